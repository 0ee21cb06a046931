"""The tools of the agents, the executor that runs every call, and the host port that tools use."""
