"""External agents as workers: the client side of the Agent Client Protocol."""
