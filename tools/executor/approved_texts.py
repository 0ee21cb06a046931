"""What you allowed, as it was then: to show what has changed when the same call asks again.

One private file for each call, in the data directory; the oldest go when there are many.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from sidecar.config.paths import write_private
from sidecar.config.run_files import render_change
from tools.executor.binding import VARIABLE
from tools.executor.script_files import PROGRAM, BoundFile

_MOST = 200
#: Texts beyond this are not kept; their changes are named, not shown.
_MAX_TEXT = 1 << 20


class ApprovedTexts:
    """Without a directory, it remembers for as long as this process lives."""

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory
        self._known: dict[str, Mapping[str, BoundFile]] = {}

    def remember(self, act: str, parts: Mapping[str, BoundFile]) -> None:
        kept = _shorten(parts)
        self._known[act] = kept
        while len(self._known) > _MOST:
            self._known.pop(next(iter(self._known)))
        if self._directory is None or not kept:
            return
        # Showing a difference is a service; a full disk must not keep a call from running.
        with suppress(OSError):
            self._directory.mkdir(mode=0o700, exist_ok=True)
            write_private(self._directory / f"{act}.json", json.dumps(kept))
            self._prune(self._directory)

    def recall(self, act: str) -> Mapping[str, BoundFile] | None:
        """What the call depended on when you last allowed it; `None` if you never did."""
        if act not in self._known and self._directory is not None:
            with suppress(OSError, ValueError, AttributeError, TypeError):
                found = json.loads((self._directory / f"{act}.json").read_text(encoding="utf-8"))
                self._known[act] = {str(name): BoundFile(*part) for name, part in found.items() if len(part) == 2}
        return self._known.get(act)

    def _prune(self, directory: Path) -> None:
        files = sorted(os.scandir(directory), key=lambda entry: entry.stat().st_mtime)
        for entry in files[:-_MOST]:
            os.unlink(entry.path)  # noqa: PTH108


def render_difference(
    before: Mapping[str, BoundFile], now: Mapping[str, BoundFile], workspace: str
) -> tuple[list[str], str]:
    """What differs, in words, and the changed texts as a unified diff."""
    changed = sorted(name for name in {*before, *now} if _digest(before.get(name)) != _digest(now.get(name)))
    files = {}
    names = []
    for key in changed:
        if key.startswith(VARIABLE):
            names.append(f"the environment variable {key.removeprefix(VARIABLE)}")
        elif key.startswith(PROGRAM):
            names.append(f"the program {key.removeprefix(PROGRAM)}")
        else:
            files[key] = key.removeprefix(f"{workspace.rstrip('/')}/")
            names.append(files[key])
    sides = (before, now)
    shown = [key for key in files if all(side[key].text is not None for side in sides if key in side)]
    old, new = ({files[key]: side[key].text or "" for key in shown if key in side} for side in sides)
    return names, render_change(old, new)[1]


def _digest(part: BoundFile | None) -> str | None:
    return None if part is None else part.digest


def _shorten(parts: Mapping[str, BoundFile]) -> dict[str, BoundFile]:
    room = _MAX_TEXT
    kept = {}
    for name, part in parts.items():
        room -= len(part.text or "")
        kept[name] = part if room >= 0 else part._replace(text=None)
    return kept
