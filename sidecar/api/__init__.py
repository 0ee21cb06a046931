"""The HTTP API: routes, event streams, authentication and problem documents."""
