"""What a person's yes is bound to: this tool, these arguments, here, in this environment, by these very programs."""

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from sidecar.wire.base import JsonObject
from tools.local.environment import CALL_MARK, SIDECAR_MARK, command_environment
from tools.policy import shell

_VARYING = frozenset({CALL_MARK, SIDECAR_MARK, "PWD"})
_LARGEST = 64 * 1024 * 1024


def environment_names() -> list[str]:
    """What a command gets to see of the environment, by name."""
    return sorted(command_environment("", "", "", None).keys() - _VARYING)


def binding(tool: str, args: JsonObject, cwd: str, command: str | Sequence[str] | None, diff: str | None) -> str:
    environment = command_environment("", "", "", None)
    values = {name: value for name, value in environment.items() if name not in _VARYING}
    names = [] if command is None else shell.names(command) if isinstance(command, str) else [command[0]]
    programs = {name: _content(name, cwd, values.get("PATH", "")) for name in names}
    exactly = json.dumps([tool, args, cwd, values if command is not None else None, programs, diff], sort_keys=True)
    return hashlib.sha256(exactly.encode("utf-8", "surrogatepass")).hexdigest()


def _content(name: str, cwd: str, path: str) -> str | None:
    """The hash of a program's file, also of one that the workspace brings."""
    place = os.path.join(cwd, name) if "/" in name else shutil.which(name, path=path)  # noqa: PTH118
    try:
        if place is None or Path(place).stat().st_size > _LARGEST:
            return place
        return hashlib.sha256(Path(place).read_bytes()).hexdigest()
    except OSError:
        return None
