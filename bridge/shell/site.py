"""This shell as a place where calls are carried out: the tools that the sidecar has, over the open buffers."""

from pathlib import Path

from bridge.shell.buffers import BufferHost, Buffers
from tools.host import Host
from tools.local import LocalSite
from tools.local.door import Door
from tools.local.host import LocalHost
from tools.registry import Registry


class BufferedSite(LocalSite):
    """`private` is the sidecar's own directory, with its token: no tool reads or writes it, here no more than there."""

    def __init__(self, registry: Registry, data_dir: Path, buffers: Buffers, private: Path) -> None:
        super().__init__(registry, data_dir)
        self._buffers = buffers
        self._private = private

    def host(self, workspace: str) -> Host:
        local = super().host(workspace)
        if isinstance(local, LocalHost) and not isinstance(local.door, _SidecarsDoor):
            local.door.close()
            local.door = _SidecarsDoor(workspace, private=self._private)
        return BufferHost(local, self._buffers)


class _SidecarsDoor(Door):
    pass
