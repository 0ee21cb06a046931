"""The agent side of the Agent Client Protocol (ACP), for editors."""
