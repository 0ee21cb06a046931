"""What an approval is bound to: the call, its environment, and the content of every file that it would run."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sidecar.wire.base import JsonObject
from tools.environments import ProjectEnvironment, find_environment
from tools.executor.script_files import ScriptSearch
from tools.local.environment import CALL_MARK, SIDECAR_MARK, command_environment

_VARYING = frozenset({CALL_MARK, SIDECAR_MARK, "PWD"})


class ApprovalBinding(NamedTuple):
    """`digest` covers everything; `act` only the call itself, whatever the files contain."""

    digest: str
    act: str
    #: The text of each script and configuration, by its path.
    texts: Mapping[str, str]


def command_variables(project: ProjectEnvironment | None = None) -> dict[str, str]:
    """The environment of a command, without the variables that differ from call to call."""
    found = command_environment("", "", "", None, project)
    return {name: value for name, value in found.items() if name not in _VARYING}


def bind(
    tool: str, args: JsonObject, cwd: str, command: str | Sequence[str] | None, diff: str | None, workspace: str = ""
) -> ApprovalBinding:
    """Reads files, so call it in a thread."""
    environment = command_variables(find_environment(workspace or cwd, cwd))
    act = [tool, args, cwd, environment if command is not None else None]
    found = {} if command is None else ScriptSearch(cwd, workspace or cwd, environment.get("PATH", "")).files(command)
    hashes = {path: file.digest for path, file in found.items()}
    texts = {path: file.text for path, file in found.items() if file.text is not None}
    return ApprovalBinding(_hash([*act, hashes, diff]), _hash([tool, args, cwd]), texts)


def bind_subject(tool: str, subject: str) -> ApprovalBinding:
    """An approval of a tool that isn't ours holds while it and everything behind it stay the same."""
    name = _hash([tool, subject])
    return ApprovalBinding(name, name, {})


def _hash(value: object) -> str:
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
