"""What an approval is bound to: the call, its environment, and the content of every file that it would run.

It also keeps what you allowed, as it was then, to show what has changed when the same call asks again.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sidecar.config.paths import write_private
from sidecar.config.run_files import render_change
from sidecar.config.trust import TrustChange
from sidecar.wire.base import JsonObject
from tools.environments import ProjectEnvironment, find_environment
from tools.executor.script_files import PROGRAM, BoundFile, ScriptSearch
from tools.local.environment import CALL_MARK, SIDECAR_MARK, command_environment

#: The prefix of an environment variable's name.
_VARIABLE = "variable "
_VARYING = frozenset({CALL_MARK, SIDECAR_MARK, "PWD"})
_MOST = 200
#: Texts beyond this are not kept; their changes are named, not shown.
_MAX_TEXT = 1 << 20


class ApprovalBinding(NamedTuple):
    """`digest` covers everything; `act` only the call itself, whatever the files contain."""

    digest: str
    act: str
    #: Every file, program and environment variable that the call depends on, by its name.
    parts: Mapping[str, BoundFile] = {}
    #: What changed since you trusted the workspace, if that is what is asked about.
    change: TrustChange | None = None


def command_variables(project: ProjectEnvironment | None = None) -> dict[str, str]:
    """The environment of a command, without the variables that differ from call to call."""
    found = command_environment("", "", "", None, project)
    return {name: value for name, value in found.items() if name not in _VARYING}


def bind(
    tool: str,
    args: JsonObject,
    cwd: str,
    command: str | Sequence[str] | None,
    diff: str | None,
    workspace: str = "",
    *,
    whole: bool = True,
) -> ApprovalBinding:
    """Reads files, so call it in a thread. `whole`: every source file counts for a program that runs all of them."""
    parts: dict[str, BoundFile] = {}
    if command is not None:
        variables = command_variables(find_environment(workspace or cwd, cwd))
        search = ScriptSearch(cwd, workspace or cwd, variables.get("PATH", ""), whole=whole)
        parts |= {f"{_VARIABLE}{name}": BoundFile(_hash(value), None) for name, value in variables.items()}
        parts |= search.files(command)
    digests = {name: part.digest for name, part in parts.items()}
    return ApprovalBinding(_hash([tool, args, cwd, digests, diff]), _hash([tool, args, cwd]), parts)


def bind_change(workspace: str, change: TrustChange | None) -> ApprovalBinding:
    """Your answer to what changed since you trusted a workspace: it holds for every call that asks because of that."""
    act = _hash(["trust", workspace])
    return ApprovalBinding(_hash([act, change.digest if change is not None else None]), act, {}, change)


def bind_subject(tool: str, subject: str) -> ApprovalBinding:
    """An approval of a tool that isn't ours holds while it and everything behind it stay the same."""
    name = _hash([tool, subject])
    return ApprovalBinding(name, name, {})


def _hash(value: object) -> str:
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class ApprovedTexts:
    """One private file for each call; the oldest go. Without a directory, it remembers while this process lives."""

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
        # It only helps to show a difference: a full disk must not keep a call from running.
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
        if key.startswith(_VARIABLE):
            names.append(f"the environment variable {key.removeprefix(_VARIABLE)}")
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
