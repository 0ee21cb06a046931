"""Settings, the data directory, and the secrets in it."""
