"""Who does the work: the roster of agents, the router that chooses among them, and the loop they all run."""
