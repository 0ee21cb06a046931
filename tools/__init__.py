"""What an agent can do: the tools, the one executor in front of them, and the host they ask."""
