"""Git, run so that a repository's own configuration and hooks start nothing."""
