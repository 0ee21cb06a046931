"""The reference desktop shell, without a window: the pattern for every other, and a library for those in Python."""

from bridge.shell.buffers import Buffers
from bridge.shell.shell import Endpoint, ReferenceShell

__all__ = ["Buffers", "Endpoint", "ReferenceShell"]
