"""What an approval is bound to: the call, its environment, and the content of every file that it would run."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sidecar.config.trust import TrustChange
from sidecar.wire.base import JsonObject
from tools.environments import ProjectEnvironment, find_environment
from tools.executor.script_files import BoundFile, ScriptSearch
from tools.local.environment import CALL_MARK, SIDECAR_MARK, command_environment

#: What stands in front of the name of an environment variable.
VARIABLE = "variable "
_VARYING = frozenset({CALL_MARK, SIDECAR_MARK, "PWD"})


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
        parts |= {f"{VARIABLE}{name}": BoundFile(_hash(value), None) for name, value in variables.items()}
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
