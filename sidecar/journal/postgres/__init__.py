"""The journal on PostgreSQL, shared by several sidecars and workers. Imported only when `BRAIN_DATABASE_URL` is set."""
