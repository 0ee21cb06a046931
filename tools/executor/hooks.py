"""Your own hooks: commands from `hooks.json` of the configuration directory that see calls and may veto them.

    {"before_tool": [{"command": ["check-call"], "tools": ["run_command"], "timeout": 10}],
     "after_edit": [{"command": ["format-file"]}],
     "task_ended": [{"command": ["tell-me"]}]}

A command gets the call, or the task, as JSON on standard input. If a `before_tool` hook fails, is missing or takes too
long, the call is denied, and the model reads what it wrote. The others only inform. A workspace can't bring hooks.
"""

import asyncio
import json
import logging
import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sidecar.wire.base import JsonObject
from tools.errors import Denied
from tools.local.environment import command_environment
from tools.shield import run_to_completion

log = logging.getLogger(__name__)

FILE = "hooks.json"
Moment = Literal["before_tool", "after_edit", "task_ended"]
_SECONDS = 10.0
_MAX_SECONDS = 120.0
_MAX_HOOKS = 20
_MAX_BYTES = 100_000
_SHOWN = 1_000
_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Hook:
    command: tuple[str, ...]
    tools: frozenset[str]
    timeout: float


class Hooks:
    """A change of the file counts at the latest after `_LOOK_SECONDS`."""

    def __init__(self, file: Path) -> None:
        self._file = str(file)
        self._stamp: object = None
        self._hooks: dict[str, list[Hook]] = {}
        self._broken = ""
        self._looked_at = -_LOOK_SECONDS

    async def before_tool(self, tool: str, args: JsonObject, workspace: str, call_id: str) -> None:
        """Raises `Denied` if a hook vetoes the call."""
        hooks = self._load("before_tool", tool)
        if self._broken:
            raise Denied(f"Your {FILE} can't be read ({self._broken}), so nothing runs until it is corrected.")
        for hook in hooks:
            payload = {"event": "before_tool", "tool": tool, "args": args, "workspace": workspace, "callId": call_id}
            code, said = await _run(hook, payload, workspace)
            if code != 0:
                why = said.strip()[:_SHOWN] or f"it ended with {code}"
                raise Denied(f"Your hook {hook.command[0]} vetoed this call: {why}", advice="Don't try it another way.")

    async def after_edit(self, tool: str, paths: list[str], workspace: str, call_id: str) -> None:
        payload: JsonObject = {"tool": tool, "paths": [*paths], "workspace": workspace, "callId": call_id}
        await self._inform("after_edit", payload, workspace, tool)

    def wants_ends(self) -> bool:
        return bool(self._load("task_ended"))

    async def task_ended(self, task: JsonObject, workspace: str) -> None:
        await self._inform("task_ended", task, workspace)

    async def _inform(self, moment: Moment, about: JsonObject, workspace: str, tool: str = "") -> None:
        for hook in self._load(moment, tool):
            code, said = await _run(hook, {"event": moment, **about}, workspace)
            if code != 0:
                log.warning("The hook %s ended with %s: %s", hook.command[0], code, said[:_SHOWN])

    def _load(self, moment: Moment, tool: str = "") -> list[Hook]:
        self._look()
        listed = self._hooks.get(moment)
        return [hook for hook in listed if not hook.tools or tool in hook.tools] if listed else []

    def _look(self) -> None:
        """Every call looks here, so most don't ask the disk."""
        now = time.monotonic()
        if now - self._looked_at < _LOOK_SECONDS:
            return
        self._looked_at = now
        try:
            found = os.stat(self._file)  # noqa: PTH116 - with every call
            stamp: object = (found.st_mtime_ns, found.st_size, found.st_ino)
        except OSError:
            stamp = None
        if stamp != self._stamp:
            self._stamp, self._broken, self._hooks = stamp, "", {}
            if stamp is not None:
                try:
                    self._hooks = _read(Path(self._file))
                except (OSError, ValueError, TypeError, KeyError) as error:
                    self._broken = str(error)[:200]


def _read(file: Path) -> dict[str, list[Hook]]:
    text = file.read_text(encoding="utf-8")
    if len(text) > _MAX_BYTES:
        raise ValueError("it is too large")
    raw = json.loads(text)
    if not isinstance(raw, dict) or not raw.keys() <= {"before_tool", "after_edit", "task_ended"}:
        raise ValueError("it may hold before_tool, after_edit and task_ended")
    return {moment: [_hook(each) for each in listed][:_MAX_HOOKS] for moment, listed in raw.items()}


def _hook(raw: Any) -> Hook:
    command = raw["command"]
    words = [command] if isinstance(command, str) else command
    if not words or not all(isinstance(word, str) and word for word in words):
        raise ValueError("command must be a list of texts")
    return Hook(tuple(words), frozenset(raw.get("tools", ())), min(float(raw.get("timeout", _SECONDS)), _MAX_SECONDS))


async def _run(hook: Hook, payload: Mapping[str, Any], workspace: str) -> tuple[int | str, str]:
    """The exit code, or why there is none; and what it wrote."""
    try:
        process = await asyncio.create_subprocess_exec(
            *hook.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=workspace,
            env=command_environment("hook", "", workspace, None),
            start_new_session=True,
        )
    except OSError as error:
        return "no start", f"it can't be started: {error.strerror}"
    try:
        async with asyncio.timeout(hook.timeout):
            output, _ = await process.communicate(json.dumps(payload).encode())
    except TimeoutError:
        return "a timeout", f"it took longer than {hook.timeout:g} s"
    finally:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        await run_to_completion(process.wait())
    return process.returncode or 0, output[:_MAX_BYTES].decode("utf-8", "replace")
