"""MCP servers as one more backend of the tools."""
