"""Approval prompts: where paths really lead, what exactly a prompt shows, and what an approval is bound to."""

import hashlib
import json
import os
import posixpath
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from sidecar.wire.base import JsonObject
from tools.errors import FileMissing, NotADirectory
from tools.executor.context import CallContext
from tools.host import Host, ResolvingHost
from tools.ledger import ApprovalPrompt
from tools.local.environment import CALL_MARK, SIDECAR_MARK, command_environment
from tools.local.repository.hooks import HooksPath
from tools.policy import shell
from tools.policy.policy import Decision
from tools.protected import protected_part, runs_scripts, secret_part
from tools.spec import describe_arguments
from tools.text import escape_hidden

_VARYING = frozenset({CALL_MARK, SIDECAR_MARK, "PWD"})
_MAX_HASHED = 64 * 1024 * 1024


async def check_links(paths: Iterable[str], host: Host, decision: Decision) -> Decision:
    """A link must not serve as another name for a protected file."""
    if not isinstance(host, ResolvingHost):
        return decision
    hooks = HooksPath(host.workspace).find()
    for path in paths:
        real = await host.resolve(path)
        if name := protected_part(real) or secret_part(real):
            return Decision("ask", f"{path} leads to {name}, which controls what runs later or holds secrets")
        if hooks is not None and f"{real}/".casefold().startswith(f"{hooks}/".casefold()):
            return Decision("ask", f"{path} is a hook: core.hooksPath names its directory, and Git runs it later")
        with suppress(FileMissing, NotADirectory):
            info = await host.stat(path)
            if info.kind == "file" and info.links > 1:
                return Decision("ask", f"{path} is a hard link; its other name may be outside the workspace")
            if info.kind == "file" and runs_scripts(path):
                return Decision("ask", f"{path} holds commands that others run later")
    return decision


def build_prompt(context: CallContext, stage: str, why: str, diff: str | None) -> ApprovalPrompt:
    command = getattr(context.args, "command", None)
    argv = None if command is None else ("/bin/sh", "-c", command) if isinstance(command, str) else tuple(command)
    directory = posixpath.normpath(posixpath.join(context.workspace, getattr(context.args, "cwd", None) or "."))

    def show(text: str) -> str:
        return escape_hidden(context.clean(text))

    return ApprovalPrompt(
        id=f"{context.call.id}:{stage}",
        call_id=context.call.id,
        action=show(f"{context.spec.name} {describe_arguments(context.call.args)}"[:500]),
        why=show(why),
        argv=None if argv is None else tuple(map(show, argv)),
        cwd=None if argv is None else show(directory),
        diff=None if diff is None else show(diff),
        environment=None if argv is None else tuple(sorted(_environment())),
        binding=bind_approval(context.spec.name, context.call.args, directory, command, diff),
    )


def _environment() -> dict[str, str]:
    """The environment of a command, without the variables that differ from call to call."""
    return {name: value for name, value in command_environment("", "", "", None).items() if name not in _VARYING}


def bind_approval(tool: str, args: JsonObject, cwd: str, command: str | Sequence[str] | None, diff: str | None) -> str:
    """An approval holds for this tool, these arguments, this directory and environment, and these program files."""
    environment = _environment()
    names = [] if command is None else shell.names(command) if isinstance(command, str) else [command[0]]
    programs = {name: _hash_program(name, cwd, environment.get("PATH", "")) for name in names}
    bound = json.dumps([tool, args, cwd, environment if command is not None else None, programs, diff], sort_keys=True)
    return hashlib.sha256(bound.encode("utf-8", "surrogatepass")).hexdigest()


def _hash_program(name: str, cwd: str, path: str) -> str | None:
    place = os.path.join(cwd, name) if "/" in name else shutil.which(name, path=path)  # noqa: PTH118
    try:
        if place is None or Path(place).stat().st_size > _MAX_HASHED:
            return place
        return hashlib.sha256(Path(place).read_bytes()).hexdigest()
    except OSError:
        return None
