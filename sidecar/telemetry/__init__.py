"""Logs, metrics, redaction and notifications. Nothing here leaves the machine."""
