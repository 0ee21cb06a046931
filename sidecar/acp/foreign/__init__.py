"""Agents of others as workers: the client side of the Agent Client Protocol."""
