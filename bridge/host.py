"""The shells as a place where calls are carried out: with open, unsaved buffers and the editor's own knowledge."""

import asyncio
import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from bridge.diagnostics import TOOL, told
from bridge.dispatcher import Dispatcher
from bridge.session import BridgeError, FrameTooLarge, Settled, SidecarSession
from sidecar.wire.base import JsonObject
from sidecar.wire.bridge import Diagnostic, EndedProcess, ToolCallFrame
from sidecar.wire.events import ErrorBody
from tools.errors import HostGone, TimedOut, TooLarge, ToolError
from tools.host import Killed
from tools.spec import AnyTool, Call, Output, ToolResult

_USED = 10_000
#: How long a call that a crash left open waits for its shell: time enough to notice the new start and connect.
RETURN_SECONDS = 3.0
_STOP = "stop_command"
_STOP_MS = 5_000


class BridgeBackend:
    name = "shell"

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._sessions = dispatcher.sessions
        #: Which calls went out under which id, so that two calls never do under the same.
        self._used: OrderedDict[str, int] = OrderedDict()

    def offers(self, tool: str, workspace: str) -> bool:
        if not self._sessions:  # without a shell this is asked for every call, and must cost nothing
            return False
        return self._offering(tool, workspace) is not None or (tool == TOOL and self._said(workspace) is not None)

    def remembers(self, call_id: str) -> bool:
        return self._sessions.remembering(call_id) is not None

    async def returned(self, call_id: str, tool: str, workspace: str) -> bool:
        """Waits until a shell is there that remembers the call; at the first that would be asked today and does not,
        or after a moment, it is not awaited any longer."""
        with suppress(TimeoutError):
            async with asyncio.timeout(RETURN_SECONDS):
                while not self.remembers(call_id) and self._offering(tool, workspace) is None:
                    await self._dispatcher.arrival()
        return self.remembers(call_id)

    async def stop(self, command_id: str, workspace: str) -> Sequence[Killed]:
        session = self._offering(_STOP, workspace)
        if session is None:
            return ()
        frame = ToolCallFrame(
            id=f"{command_id}:stop",
            tool=_STOP,
            args={"commandId": command_id},
            timeout_ms=_STOP_MS,
            workspace=session.hello.workspace,
        )
        try:
            settled = await self._dispatcher.call(session, frame, lambda stream, text: None, lambda settled: None)
        except BridgeError:
            return ()
        return _killed(settled)

    async def run(self, tool: AnyTool, args: JsonObject, call: Call, output: Output) -> ToolResult:
        if tool.spec.name == TOOL and self._offering(TOOL, call.workspace) is None:
            said = self._said(call.workspace)
            if said is not None:
                return told(said.found, args, said.workspace, said.shell)
        try:
            session, wire_id = self._placed(tool, args, call)
            frame = ToolCallFrame(
                id=wire_id,
                tool=tool.spec.name,
                args=args,
                timeout_ms=max(1, round(call.timeout * 1000)),
                workspace=session.hello.workspace,
                approved=call.approved or None,
            )

            def ended(settled: Settled) -> None:
                _tell(call, settled.killed)

            settled = await self._dispatcher.call(session, frame, output, ended)
        except FrameTooLarge as error:
            raise TooLarge(f"The call does not fit into a frame of the bridge. {error} Split it.") from error
        except BridgeError as error:
            raise _never_sent(str(error)) from error
        except (ValidationError, PydanticSerializationError) as error:
            raise ToolError("The arguments cannot be sent as JSON.", code="invalid_arguments") from error
        _tell(call, settled.killed)
        return _result(settled, tool.spec.name)

    def _offering(self, tool: str, workspace: str) -> SidecarSession | None:
        # Following links takes longer than all the rest, and hardly ever finds another path.
        found = self._sessions.offering(tool, workspace)
        return found or self._sessions.offering(tool, os.path.realpath(workspace))

    def _said(self, workspace: str) -> "_Said | None":
        """What the editor's language servers found, if one of its shells is there."""
        place = os.path.realpath(workspace)
        session = self._sessions.connected_at(place)
        found = self._dispatcher.editor.diagnostics(place) if session else None
        return _Said(found, place, session.hello.shell.name) if session and found is not None else None

    def _placed(self, tool: AnyTool, args: JsonObject, call: Call) -> tuple[SidecarSession, str]:
        """Which shell, and under which id.

        A call with effects keeps its id for good: a shell that knows it answers from its log. A read that is made again
        wants to see what is there now, so it goes out under an id of its own; and so does what only looks like an
        earlier call, because whoever made it numbers calls anew.
        """
        mark = hash((tool.spec.name, to_json(args)))
        session = self._sessions.remembering(call.id)
        again = session is not None or call.id in self._used
        fresh = again and (
            tool.spec.effects == "none"
            or self._used.get(call.id, mark) != mark
            or (session is not None and session.has_open(call.id))
        )
        wire_id = self._unused(call.id) if fresh else call.id
        if fresh or session is None or not session.connected:
            session = self._offering(tool.spec.name, call.workspace)
        if session is None:
            raise _never_sent(f"No desktop shell that offers {tool.spec.name} is connected any more.")
        self._used[wire_id] = mark
        while len(self._used) > _USED:
            self._used.popitem(last=False)
        return session, wire_id

    def _unused(self, call_id: str) -> str:
        number = 2
        while f"{call_id}~{number}" in self._used or self._sessions.remembering(f"{call_id}~{number}"):
            number += 1
        return f"{call_id}~{number}"


class _Said(NamedTuple):
    found: Mapping[str, Sequence[Diagnostic]]
    workspace: str
    shell: str


def _never_sent(why: str) -> ToolError:
    """Not a `HostGone`: nothing can have happened, so it may simply be tried again."""
    return ToolError(why, code=HostGone.code, transient=True)


def _killed(settled: Settled) -> list[Killed]:
    """What a stopped command took with it, as its result tells the panel."""
    details = settled.result.details if settled.result is not None else None
    told = details.get("killed") if isinstance(details, dict) else None
    found = [Killed(each.pid, each.command) for each in settled.killed]
    for each in told if isinstance(told, list) else ():
        if isinstance(each, dict) and isinstance(each.get("pid"), int):
            found.append(Killed(int(str(each["pid"])), str(each.get("command", ""))))
    return found


def _tell(call: Call, killed: Sequence[EndedProcess]) -> None:
    for each in killed:
        call.killed(each.pid, each.command)


def _result(settled: Settled, tool: str) -> ToolResult:
    body = settled.result
    if body is not None:
        summary = body.summary or body.content.partition("\n")[0][:200]
        return ToolResult(content=body.content, details=body.details, summary=summary, error=body.error)
    error = settled.error or ErrorBody(code="tool_failed", message=f"{tool} failed in the shell.")
    if not settled.answered:
        raise HostGone(error.message)
    if error.code == "timed_out":
        raise TimedOut(error.message)
    raise ToolError(error.message, advice=error.advice or "", code=error.code[:100] or "tool_failed")
