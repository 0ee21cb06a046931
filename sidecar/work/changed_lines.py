"""Which lines of its files a task has changed, so that a review looks at these and not at what was there before."""

import asyncio
from collections.abc import Sequence
from difflib import SequenceMatcher

from sidecar.engine.run import TaskRun

_FILES = 300
_LINES = 20_000


async def changed_lines(run: TaskRun) -> list[str]:
    """`path:3-9,12` for each file that is there still; a new file is named without lines, as all of it is new."""
    states: dict[str, tuple[str | None, str | None]] = {}
    for call_id, intent in run.state.intents.items():
        outcome = run.state.outcomes.get(call_id)
        if outcome is not None and outcome.status == "success":
            for file in intent.files:
                before, _ = states.get(file.path, (file.before, None))
                states[file.path] = (before, file.after)
    found = []
    for path, (before, after) in sorted(states.items())[:_FILES]:
        if after is None or before == after:
            continue
        old, new = (await run.log.blob(before) if before else None), await run.log.blob(after)
        if old is None or new is None:
            # New, or no longer kept: then nobody knows which lines were there before.
            found += [path] if before is None else []
            continue
        if lines := await asyncio.to_thread(_lines, old, new):
            found.append(f"{path}:{lines}")
    return found


def _lines(old: bytes, new: bytes) -> str:
    """The lines that are new or changed, and those where something was taken out, as ranges."""
    before, after = old.splitlines(), new.splitlines()
    if max(len(before), len(after)) > _LINES:
        return ""
    ranges: list[tuple[int, int]] = []
    for tag, _, _, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            ranges.append((max(1, start + 1 if end > start else start), max(1, end)))
    return _told(ranges)


def _told(ranges: Sequence[tuple[int, int]]) -> str:
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in ranges)
