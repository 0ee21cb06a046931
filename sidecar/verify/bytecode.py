"""Removes compiled Python that may be stale.

Python recognizes stale bytecode by the source's modification time in seconds and its size. A file that was compiled,
then changed within the same second at the same length, would run as it was before.
"""

import posixpath
from collections.abc import Sequence
from contextlib import suppress

from sidecar.verify.change import FileVersions
from tools.errors import ToolError
from tools.host import FileChange, FileInfo, Host

_SECOND = 1_000_000_000
_SIZE = 16 * 1024 * 1024


async def remove_stale_bytecode(changes: Sequence[FileVersions], host: Host) -> list[str]:
    """Returns the removed files; skips what it can't read."""
    removed = []
    for change in changes:
        if change.path.endswith(".py") and change.after is not None:
            for path in await _find_suspects(change.path, host):
                with suppress(ToolError):
                    await host.apply(FileChange(path, await host.read(path, _SIZE), None))
                    removed.append(path)
    return removed


async def _find_suspects(source: str, host: Host) -> list[str]:
    """Compiled within about a second of the source's last change, so maybe from the version before."""
    folder, name = posixpath.split(source)
    try:
        written = (await host.stat(source)).mtime_ns
        compiled = await host.list(posixpath.join(folder, "__pycache__"))
    except ToolError:
        return []
    stem = f"{name.removesuffix('.py')}."
    return [info.path for info in compiled if _may_be_stale(info, stem, written)]


def _may_be_stale(info: FileInfo, stem: str, written: int) -> bool:
    name = info.path.rpartition("/")[2]
    ours = info.kind == "file" and name.startswith(stem) and name.endswith(".pyc")
    return ours and info.mtime_ns // _SECOND <= written // _SECOND + 1
