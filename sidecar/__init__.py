"""Rainy Brain: the sidecar that carries out a task beside an editor."""

import os

__version__ = "0.1.0"

# Pydantic looks through every installed package for plugins of its own, at each start. There are none for us.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
