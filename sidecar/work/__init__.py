"""Agents and workflow: the roster, the router that chooses among them, and the loop they all run."""
