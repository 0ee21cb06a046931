"""The text of scripts as they were when you allowed a command, to show what has changed since.

One private file for each command, in the data directory; the oldest go when there are many.
"""

import difflib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from sidecar.config.paths import write_private

_MOST = 200
_MAX_BYTES = 1 << 20
_LINES = 400


class ApprovedTexts:
    """Without a directory, it remembers for as long as this process lives."""

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory
        self._known: dict[str, Mapping[str, str]] = {}

    def remember(self, act: str, texts: Mapping[str, str]) -> None:
        self._known[act] = dict(texts)
        while len(self._known) > _MOST:
            self._known.pop(next(iter(self._known)))
        body = json.dumps(texts)
        if self._directory is None or not texts or len(body) > _MAX_BYTES:
            return
        # Showing a difference is a service; a full disk must not keep a call from running.
        with suppress(OSError):
            self._directory.mkdir(mode=0o700, exist_ok=True)
            write_private(self._directory / f"{act}.json", body)
            self._prune(self._directory)

    def recall(self, act: str) -> Mapping[str, str] | None:
        """The texts with which you last allowed this command; `None` if you never did."""
        if act not in self._known and self._directory is not None:
            with suppress(OSError, ValueError, AttributeError):
                found = json.loads((self._directory / f"{act}.json").read_text(encoding="utf-8"))
                self._known[act] = {str(path): str(text) for path, text in found.items()}
        return self._known.get(act)

    def _prune(self, directory: Path) -> None:
        files = sorted(os.scandir(directory), key=lambda entry: entry.stat().st_mtime)
        for entry in files[:-_MOST]:
            os.unlink(entry.path)  # noqa: PTH108


def render_difference(before: Mapping[str, str], now: Mapping[str, str], workspace: str) -> tuple[list[str], str]:
    """The files that differ, and how, as a unified diff."""
    changed = sorted(path for path in {*before, *now} if before.get(path) != now.get(path))
    lines: list[str] = []
    names = []
    for path in changed:
        name = path.removeprefix(f"{workspace.rstrip('/')}/")
        names.append(name)
        old, new = before.get(path), now.get(path)
        source, target = "/dev/null" if old is None else f"a/{name}", "/dev/null" if new is None else f"b/{name}"
        lines += difflib.unified_diff(
            (old or "").splitlines(), (new or "").splitlines(), source, target, n=2, lineterm=""
        )
    if len(lines) > _LINES:
        lines = [*lines[:_LINES], f"… {len(lines) - _LINES} more lines"]
    return names, "\n".join(lines)
