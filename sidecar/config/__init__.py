"""Settings, the data directory, keys, grants and trust."""
