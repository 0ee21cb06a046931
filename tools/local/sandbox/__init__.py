"""The sandbox around commands: which one this machine has is found out once, when the first command needs it."""

from tools.local.sandbox.port import Room, Sandbox
from tools.local.sandbox.probe import Sandboxes

__all__ = ["Room", "Sandbox", "Sandboxes"]
