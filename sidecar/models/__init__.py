"""One streaming port, one file a provider."""
