"""Logs and metrics. Nothing here leaves the machine."""
