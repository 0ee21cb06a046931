"""What a reviewer gets to judge a change by: the request, the checks that ran, and the diff, within a size."""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

from sidecar.engine.run import TaskRun
from sidecar.engine.state import TaskState
from sidecar.verify.change import FileVersions
from sidecar.verify.result import Verification
from sidecar.wire.text import plural
from sidecar.work.changes import edit_sizes, original_contents, touched_paths
from tools.changes import unified_diff
from tools.errors import ToolError
from tools.host import FileChange, Host
from tools.paths import normalize
from tools.protected import secret_part
from tools.text import first_words, shorten

#: A byte more than the journal keeps of a file, so that a cut file never equals a whole one.
_MAX_BYTES = 4 * 1024 * 1024 + 1
MAX_FILES = 1_000

#: A change up to this size that the checks prove needs no review.
SMALL_LINES, SMALL_FILES = 60, 5
_DIFF_CHARACTERS = 20_000
_EVIDENCE = 600
_COMMAND = 160
_ANSWER = 1_500
#: The tools of a reviewer that looks something up.
LOOKUP = ("read_file", "search_code")


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


def is_small(state: TaskState) -> bool:
    """Whether this round's edits are few, by their own records."""
    sizes = edit_sizes(state)
    return sizes is not None and len(sizes) <= SMALL_FILES and sum(sizes.values()) <= SMALL_LINES


class _Hunk(NamedTuple):
    file: int
    lines: list[str]

    @property
    def size(self) -> int:
        return sum(map(len, self.lines)) + len(self.lines)


def render_review(
    request: str,
    answer: str,
    verification: Verification | None,
    versions: Sequence[FileVersions],
    redact: Callable[[str], str] = str,
) -> str:
    parts = [f"The request:\n{request}", render_checks(verification)]
    if answer:
        parts.append(f"What the coder says:\n{shorten(answer, _ANSWER)}")
    parts.append(f"The change:\n\n{render_diff(versions, redact)}" if versions else "No file was changed.")
    return "\n\n".join(parts)


def render_checks(verification: Verification | None) -> str:
    if verification is None or not (verification.checks or verification.notes):
        return "Checks: none ran."
    word = {True: "passed", False: "failed", None: "proved nothing"}[verification.passed]
    lines = [f"Checks, which ran after the last edit: {word}."]
    for check in verification.checks:
        result = "passed" if check.passed else "failed"
        command = f" (`{first_words(check.command, _COMMAND)}`)" if check.command else ""
        # The notes say what doesn't count.
        evidence = shorten(check.evidence, _EVIDENCE) if check.evidence and not check.passed else ""
        lines.append(f"- {check.name}{command}: {result}" + (f"\n{evidence}" if evidence else ""))
    return "\n".join([*lines, *(f"- {shorten(note, _EVIDENCE)}" for note in verification.notes)])


def render_diff(versions: Sequence[FileVersions], redact: Callable[[str], str] = str) -> str:
    """Unified diffs, new files too. If they are too long, the biggest hunks are folded."""
    heads: list[str] = []
    hunks: list[_Hunk] = []
    for number, version in enumerate(versions):
        diff = unified_diff(FileChange(version.path, version.before, version.after))
        heads.append("\n".join(diff[:2]) or f"--- {version.path}\n+++ {version.path} (empty)")
        if secret_part(version.path):
            hunks.append(_Hunk(number, ["(not shown: it may hold secrets)"]))
            continue
        for line in diff[2:]:
            if line.startswith("@@") or not hunks or hunks[-1].file != number:
                hunks.append(_Hunk(number, [line]))
            else:
                hunks[-1].lines.append(line)
    left = sum(hunk.size for hunk in hunks) - _DIFF_CHARACTERS
    for place in sorted(range(len(hunks)), key=lambda place: -hunks[place].size):
        if left <= 0:
            break
        folded = _fold(hunks[place], max(hunks[place].size - left, 0))
        left -= hunks[place].size - folded.size
        hunks[place] = folded
    parts = []
    for number, head in enumerate(heads):
        parts += [head, *("\n".join(hunk.lines) for hunk in hunks if hunk.file == number)]
    return redact("\n".join(parts))


def _fold(hunk: _Hunk, limit: int) -> _Hunk:
    """The beginning of the hunk within `limit` characters, and how many lines follow."""
    kept, size = [hunk.lines[0]], len(hunk.lines[0])
    for line in hunk.lines[1:]:
        size += len(line) + 1
        if size > limit:
            break
        kept.append(line)
    rest = len(hunk.lines) - len(kept)
    return _Hunk(hunk.file, [*kept, f"… {plural(rest, 'line')} folded; read the file for them"] if rest else kept)
