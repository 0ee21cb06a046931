"""Sandboxes that hold a copy of the workspace: a local directory, a container, a machine of E2B."""
