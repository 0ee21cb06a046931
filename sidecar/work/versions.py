"""The files that a task changed, with their content before and now."""

from itertools import islice

from sidecar.engine.run import TaskRun
from sidecar.verify.change import FileVersions
from sidecar.work.changes import original_contents, touched_paths
from tools.errors import ToolError
from tools.host import Host
from tools.paths import normalize

#: A byte more than the journal keeps of a file, so that a cut file never equals a whole one.
_MAX_BYTES = 4 * 1024 * 1024 + 1
MAX_FILES = 1_000


async def file_versions(run: TaskRun, host: Host) -> list[FileVersions]:
    """The files that the task changed, as they are now, without those that only its checks wrote."""
    by_checks = touched_paths(run.state, checks=True) - touched_paths(run.state, checks=False)
    found = []
    known: dict[str, str | None] = {}
    for path, name in original_contents(run.state).items():
        if path not in by_checks:
            known.setdefault(normalize(path, run.request.workspace), name)
    for path, name in islice(known.items(), MAX_FILES):
        before = None if name is None else await run.log.blob(name)
        if name is not None and before is None:
            continue  # the journal dropped its earlier content
        after = await _read(host, path)
        if before != after:
            found.append(FileVersions(path, before, after))
    return found


async def _read(host: Host, path: str) -> bytes | None:
    try:
        return await host.read(path, _MAX_BYTES)
    except (ToolError, OSError):
        return None
