"""Small servers that speak each provider's wire format, byte for byte: what the real SDKs are tested against."""
