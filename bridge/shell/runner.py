"""Carries out one call for the sidecar, and says how it ended in the bridge's words."""

import asyncio
import logging
from collections.abc import Callable
from typing import NamedTuple

from sidecar.wire.bridge import EndedProcess, OpenCall, ResultBody
from sidecar.wire.events import ErrorBody, Event, ToolOutputEvent
from tools.errors import TimedOut, ToolError
from tools.executor.live import LiveOutput
from tools.executor.registry import Registry
from tools.ledger import ListLedger
from tools.local import LocalBackend
from tools.spec import Call

log = logging.getLogger(__name__)

#: A tool that keeps its own time limit is given this long to answer before it is cut off.
_MARGIN = 1.0

Streamed = Callable[[str, str, str], None]


class Answer(NamedTuple):
    """Either a result or an error, and which processes were ended with the call."""

    result: ResultBody | None
    error: ErrorBody | None
    killed: list[EndedProcess]


class Runner:
    def __init__(self, registry: Registry, backend: LocalBackend, streamed: Streamed) -> None:
        self._registry = registry
        self._backend = backend
        self._streams = _Streams(streamed)

    async def run(self, wanted: OpenCall) -> Answer:
        """Never raises: a cancel, too, ends with an answer, once everything that the call started is gone."""
        killed: list[EndedProcess] = []

        def heard(pid: int, command: str) -> None:
            killed.append(EndedProcess(pid=pid, command=command))

        output = LiveOutput(self._streams, wanted.id)
        try:
            result = await self._carried_out(
                wanted, Call(wanted.id, wanted.workspace, _limit(wanted), {}, heard, bool(wanted.approved)), output
            )
        except ToolError as error:
            return Answer(None, error.body, killed)
        except asyncio.CancelledError:
            return Answer(None, ErrorBody(code="cancelled", message="The call was cancelled."), killed)
        except Exception:
            log.exception("%s failed", wanted.tool)
            return Answer(None, ErrorBody(code="tool_failed", message=f"{wanted.tool} failed in the shell."), killed)
        finally:
            output.close()
        return Answer(result.model_copy(update={"killed": killed or None}), None, killed)

    async def _carried_out(self, wanted: OpenCall, call: Call, output: LiveOutput) -> ResultBody:
        tool = self._registry.get(wanted.tool)
        try:
            async with asyncio.timeout(call.timeout + _MARGIN):
                result = await self._backend.run(tool, wanted.args, call, output)
        except TimeoutError as error:
            raise TimedOut(f"{wanted.tool} took longer than {call.timeout:g} s and was ended.") from error
        content = result.content
        if not content.isascii():
            content = content.encode("utf-8", "replace").decode()
        return ResultBody(content=content, details=result.details, summary=result.summary, error=result.error)


class _Streams(ListLedger):
    """A ledger that only hears live output, and passes it on."""

    __slots__ = ("_streamed",)

    def __init__(self, streamed: Streamed) -> None:
        super().__init__()
        self._streamed = streamed

    def live(self, event: Event) -> None:
        if isinstance(event, ToolOutputEvent):
            self._streamed(event.call_id, event.stream, event.text)


def _limit(wanted: OpenCall) -> float:
    return max(0.001, wanted.timeout_ms / 1000)
