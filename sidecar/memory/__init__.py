"""What the brain knows of a workspace's code and of its past work."""
