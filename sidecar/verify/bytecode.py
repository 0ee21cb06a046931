"""Compiled Python that only looks fresh.

Python knows its compiled files by the second of the source's last change, and by its size. A file that was compiled and
then changed within the same second, at the same length, would be run as it was before: such a cache is removed before
anything is tried.
"""

import posixpath
from collections.abc import Sequence
from contextlib import suppress

from sidecar.verify.change import Change
from tools.errors import ToolError
from tools.host import FileChange, FileInfo, Host

_SECOND = 1_000_000_000
_SIZE = 16 * 1024 * 1024


async def forget_stale(changes: Sequence[Change], host: Host) -> list[str]:
    """The caches that were removed. What cannot be looked at is left alone."""
    removed = []
    for change in changes:
        if change.path.endswith(".py") and change.after is not None:
            for path in await _doubtful(change.path, host):
                with suppress(ToolError):
                    await host.apply(FileChange(path, await host.read(path, _SIZE), None))
                    removed.append(path)
    return removed


async def _doubtful(source: str, host: Host) -> list[str]:
    """Compiled within about a second after a change of the source: it may be of the version before."""
    folder, name = posixpath.split(source)
    try:
        written = (await host.stat(source)).mtime_ns
        compiled = await host.list(posixpath.join(folder, "__pycache__"))
    except ToolError:
        return []
    stem = f"{name.removesuffix('.py')}."
    return [info.path for info in compiled if _is_doubtful(info, stem, written)]


def _is_doubtful(info: FileInfo, stem: str, written: int) -> bool:
    name = info.path.rpartition("/")[2]
    ours = info.kind == "file" and name.startswith(stem) and name.endswith(".pyc")
    return ours and info.mtime_ns // _SECOND <= written // _SECOND + 1
