"""Tools carried out in this process: files through one door, commands that leave nothing behind."""

from tools.local.host import LocalHost
from tools.local.site import LocalSite

__all__ = ["LocalHost", "LocalSite"]
