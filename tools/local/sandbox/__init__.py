"""The sandbox around a command."""
