"""The backend of the connected shells, with their unsaved buffers and diagnostics."""

import asyncio
import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import uuid4

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from bridge.dispatcher import Dispatcher
from bridge.editor_state import DIAGNOSTICS_TOOL, render_diagnostics
from bridge.session.protocol import BridgeError, FrameTooLarge, Settled
from bridge.session.sidecar import SidecarSession
from sidecar.telemetry.correlation import current_header
from sidecar.wire.base import ErrorBody, JsonObject
from sidecar.wire.bridge import Diagnostic, EndedProcess, Hello, ShellToolSpec, ToolCallFrame
from tools.errors import HostGone, NeverSent, TimedOut, TooLarge, ToolError
from tools.host import Host, Killed
from tools.mcp.listing import clean, clean_schema, schema_problem
from tools.mcp.tool import ExternalArguments
from tools.protected import secret_part
from tools.spec import AnyTool, Call, External, Output, ToolResult, ToolSpec

_MAX_USED = 10_000
#: How long a call that a crash left open waits for its shell to reconnect.
RETURN_SECONDS = 3.0
_STOP = "stop_command"
_STOP_MS = 5_000
_READS = ("read_file", "read_files")
_SAVE = "save_file"
_SAVE_MS = 10_000
_UNSAVED = "unsaved_files"
_UNSAVED_MS = 5_000
_MAX_ASKED = 100
#: The file has no unsaved changes any more, so it is read from the disk.
_NOT_OPEN = "not_open"
#: For a tool of the shell's own.
_TOOL_SECONDS = 120.0


class BridgeBackend:
    name = "shell"

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._sessions = dispatcher.sessions
        #: Fingerprints of sent calls by id, so that two calls never share one.
        self._used: OrderedDict[str, int] = OrderedDict()

    def offers(self, tool: str, workspace: str) -> bool:
        if not self._sessions:  # every call asks this, so it must cost nothing without a shell
            return False
        return self._offering(tool, workspace) is not None or (
            tool == DIAGNOSTICS_TOOL and self._reported(workspace) is not None
        )

    def remembers(self, call_id: str) -> bool:
        return self._sessions.find_remembering(call_id) is not None

    def session(self, tool: str, workspace: str) -> str | None:
        offering = self._offering(tool, workspace)
        return None if offering is None else offering.id

    async def returned(self, call_id: str, tool: str, workspace: str, session: str | None) -> bool:
        """Wait a moment for a shell that remembers the call; stop at the first one that offers the tool and doesn't."""
        with suppress(TimeoutError):
            async with asyncio.timeout(RETURN_SECONDS):
                while not self._has_returned(call_id, session) and self._offering(tool, workspace) is None:
                    await self._dispatcher.arrival()
        return self.remembers(call_id)

    def _has_returned(self, call_id: str, session: str | None) -> bool:
        if session is not None:
            for each in self._sessions:
                each.continue_call(call_id, session)
        return self.remembers(call_id)

    def covers(self, tool: str, workspace: str, paths: Sequence[str]) -> bool:
        if tool not in _READS:
            return True
        unsaved = self._dispatcher.editor.unsaved(os.path.realpath(workspace), paths)
        if unsaved is None:
            return self._offering(_UNSAVED, workspace) is None
        # Secret files are read here, where the executor asks about them.
        return bool(unsaved) and not any(map(secret_part, unsaved))

    async def refresh(self, tool: str, workspace: str, paths: Sequence[str]) -> None:
        if tool in _READS:
            await self._ask_unsaved(workspace, paths, change=False)

    async def save(self, workspace: str, paths: Sequence[str]) -> bool:
        place = os.path.realpath(workspace)
        editor, session = self._dispatcher.editor, self._offering(_SAVE, workspace)
        if session is None:
            return False
        await self._ask_unsaved(workspace, paths, change=True)
        unsaved = editor.unsaved(place, paths) if paths else editor.all_unsaved(place)
        for path in unsaved or ():
            try:
                settled = await self._ask(session, f"save:{uuid4().hex}", _SAVE, {"path": path}, _SAVE_MS)
            except BridgeError as error:
                raise ToolError(str(error), code=HostGone.code, transient=True) from error
            if settled.result is None or settled.result.error is not None:
                why = settled.error or (settled.result.error if settled.result else None)
                raise ToolError(
                    f"{path} has unsaved changes in {session.hello.shell.name}, which could not save them"
                    f"{f': {why.message}' if why else '.'} Nothing was changed.",
                    advice="Ask the user to save the file or to discard the changes, then repeat the call.",
                    code="unsaved_changes",
                )
        return bool(unsaved)

    async def _ask_unsaved(self, workspace: str, paths: Sequence[str], *, change: bool) -> None:
        """Ask an editor that doesn't report its unsaved files; without an answer, the disk counts."""
        session = self._offering(_UNSAVED, workspace)
        if session is None or not paths:
            return
        asked, unsaved = [*paths[:_MAX_ASKED]], []
        args: JsonObject = {"paths": [*asked], "change": change}
        with suppress(BridgeError):
            settled = await self._ask(session, f"unsaved:{uuid4().hex}", _UNSAVED, args, _UNSAVED_MS)
            details = settled.result.details if settled.result is not None else None
            listed = details.get("unsaved") if isinstance(details, dict) else None
            unsaved = [path for path in listed if path in asked] if isinstance(listed, list) else []
        self._dispatcher.editor.answer_unsaved(os.path.realpath(workspace), paths, unsaved)

    async def stop(self, command_id: str, workspace: str) -> Sequence[Killed]:
        session = self._offering(_STOP, workspace)
        if session is None:
            return ()
        try:
            settled = await self._ask(session, f"{command_id}:stop", _STOP, {"commandId": command_id}, _STOP_MS)
        except BridgeError:
            return ()
        return _killed(settled)

    async def run(self, tool: AnyTool, args: JsonObject, call: Call, output: Output) -> ToolResult:
        if tool.spec.name == DIAGNOSTICS_TOOL and self._offering(DIAGNOSTICS_TOOL, call.workspace) is None:
            reported = self._reported(call.workspace)
            if reported is not None:
                return render_diagnostics(reported.found, args, reported.workspace, reported.shell)
        try:
            session, wire_id = self._assign(tool, args, call)
            frame = ToolCallFrame(
                id=wire_id,
                tool=tool.spec.name,
                args=args,
                timeout_ms=max(1, round(call.timeout * 1000)),
                workspace=session.hello.workspace,
                approved=call.approved or None,
                hosts=list(call.hosts) or None,
                readable=list(call.readable) or None,
                environment=dict(call.environment) or None,
                traceparent=current_header(),
            )

            def ended(settled: Settled) -> None:
                _report_killed(call, settled.killed)

            settled = await self._dispatcher.call(session, frame, output, ended)
        except FrameTooLarge as error:
            raise TooLarge(f"The call does not fit into a frame of the bridge. {error} Split it.") from error
        except BridgeError as error:
            raise NeverSent(str(error)) from error
        except (ValidationError, PydanticSerializationError) as error:
            raise ToolError("The arguments can't be sent as JSON.", code="invalid_arguments") from error
        _report_killed(call, settled.killed)
        return _result(settled, tool.spec.name)

    def find(self, name: str, workspace: str) -> AnyTool | None:
        """A tool of a connected shell's own."""
        return next((tool for tool in self.tools(workspace) if tool.spec.name == name), None)

    def tools(self, workspace: str) -> Sequence[AnyTool]:
        session = self._sessions.find_connected(workspace) or self._sessions.find_connected(os.path.realpath(workspace))
        return () if session is None else own_tools(session.hello)

    async def _ask(
        self, session: SidecarSession, call_id: str, tool: str, args: JsonObject, timeout_ms: int
    ) -> Settled:
        """A call of the bridge itself, whose output isn't read. Raises `BridgeError` if it can't be sent."""
        frame = ToolCallFrame(
            id=call_id, tool=tool, args=args, timeout_ms=timeout_ms, workspace=session.hello.workspace
        )
        return await self._dispatcher.call(session, frame, lambda stream, text: None, lambda settled: None)

    def _offering(self, tool: str, workspace: str) -> SidecarSession | None:
        # Resolve links only if needed: it takes longer than the rest, and hardly ever changes the path.
        found = self._sessions.find_offering(tool, workspace)
        return found or self._sessions.find_offering(tool, os.path.realpath(workspace))

    def _reported(self, workspace: str) -> "_Reported | None":
        """Diagnostics of a connected editor."""
        place = os.path.realpath(workspace)
        session = self._sessions.find_connected(place)
        found = self._dispatcher.editor.diagnostics(place) if session else None
        return _Reported(found, place, session.hello.shell.name) if session and found is not None else None

    def _assign(self, tool: AnyTool, args: JsonObject, call: Call) -> tuple[SidecarSession, str]:
        """Choose the shell, and the call's id on the wire.

        A call with effects keeps its id: a shell that knows it answers from its log. A repeated read must see the
        current state, so it gets a new id. So does another call that happens to have an earlier call's id.
        """
        fingerprint = hash((tool.spec.name, to_json(args)))
        session = self._sessions.find_remembering(call.id)
        again = session is not None or call.id in self._used
        fresh = again and (
            tool.spec.effects == "none"
            or self._used.get(call.id, fingerprint) != fingerprint
            or (session is not None and session.has_open(call.id))
        )
        wire_id = self._unused(call.id) if fresh else call.id
        if fresh or session is None or not session.connected:
            session = self._offering(tool.spec.name, call.workspace)
        if session is None:
            raise NeverSent(f"No desktop shell that offers {tool.spec.name} is still connected.", transient=False)
        self._used[wire_id] = fingerprint
        while len(self._used) > _MAX_USED:
            self._used.popitem(last=False)
        return session, wire_id

    def _unused(self, call_id: str) -> str:
        number = 2
        while f"{call_id}~{number}" in self._used or self._sessions.find_remembering(f"{call_id}~{number}"):
            number += 1
        return f"{call_id}~{number}"


class _Reported(NamedTuple):
    found: Mapping[str, Sequence[Diagnostic]]
    workspace: str
    shell: str


def _killed(settled: Settled) -> list[Killed]:
    """The processes that ended with a stopped command."""
    details = settled.result.details if settled.result is not None else None
    listed = details.get("killed") if isinstance(details, dict) else None
    found = [Killed(each.pid, each.command) for each in settled.killed]
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict) and isinstance(each.get("pid"), int):
            found.append(Killed(int(str(each["pid"])), str(each.get("command", ""))))
    return found


def _report_killed(call: Call, killed: Sequence[EndedProcess]) -> None:
    for each in killed:
        call.killed(each.pid, each.command)


def _result(settled: Settled, tool: str) -> ToolResult:
    body = settled.result
    if body is not None:
        summary = body.summary or body.content.partition("\n")[0][:200]
        return ToolResult(content=body.content, details=body.details, summary=summary, error=body.error)
    error = settled.error or ErrorBody(code="tool_failed", message=f"{tool} failed in the shell.")
    if not settled.answered or error.code == _NOT_OPEN:
        raise HostGone(error.message)
    if error.code == "timed_out":
        raise TimedOut(error.message)
    raise ToolError(error.message, advice=error.advice or "", code=error.code[:100] or "tool_failed")


class ShellTool:
    """The bridge carries it out; this only says what it is."""

    def __init__(self, spec: ShellToolSpec, shell: str) -> None:
        self.spec = ToolSpec(
            spec.name,
            clean(spec.description),
            ShellToolArguments,
            parameters=clean_schema(spec.parameters),
            executor="shell",
            timeout=_TOOL_SECONDS,
            parallel=spec.read_only if spec.parallel is None else spec.parallel,
            effects="none" if spec.read_only else "command",
            external=External(f"your editor ({shell})", only_reads=spec.read_only, yours=True),
        )

    async def run(self, args: Any, host: Host, call: Call, output: Output) -> ToolResult:
        raise HostGone(f"No shell that offers {self.spec.name} is connected.")


class ShellToolArguments(ExternalArguments):
    """The shell checks them."""

    def time_limit(self, default: float) -> float:
        return default


def own_tools(hello: Hello) -> Sequence[ShellTool]:
    """The tools that the shell describes, except those with a schema that can't be used."""
    return _make(hello.shell.name, tuple(each.to_json() for each in hello.tools if isinstance(each, ShellToolSpec)))


@lru_cache(maxsize=64)
def _make(shell: str, dumped: tuple[str, ...]) -> Sequence[ShellTool]:
    specs = [ShellToolSpec.model_validate_json(each) for each in dumped]
    return [ShellTool(each, clean(shell)[:60]) for each in specs if not schema_problem(each.parameters)]
