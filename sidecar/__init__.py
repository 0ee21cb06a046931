"""Rainy Brain: the sidecar that carries out a task beside an editor."""

__version__ = "0.1.0"
