"""Tools carried out in this process: files through one door, commands that leave nothing behind."""

from tools.local.backend import LocalBackend
from tools.local.host import LocalHost

__all__ = ["LocalBackend", "LocalHost"]
