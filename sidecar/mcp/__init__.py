"""The sidecar as an MCP server."""
