"""Logs, metrics, traces, redaction and notifications. Nothing leaves the machine unless you name a collector."""
