"""Runs the sidecar's calls in the shell: the same tools, over the open buffers."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from bridge.shell.buffers import BufferHost, Buffers
from sidecar.wire.base import ErrorBody, JsonObject
from sidecar.wire.bridge import EndedProcess, OpenCall, ResultBody
from sidecar.wire.events import Event, ToolOutputEvent
from tools.errors import TimedOut, ToolError
from tools.executor.file_changes import apply_all, locate
from tools.executor.invocation import LiveOutput
from tools.executor.registry import Registry
from tools.executor.validation import validate
from tools.ledger import ListLedger
from tools.local.backend import LocalBackend
from tools.local.confinement import CommandLimits
from tools.local.host import LocalHost
from tools.local.sandbox.probe import Sandboxes
from tools.shield import run_to_completion
from tools.spec import AnyTool, Arguments, Call, Output, Tool, ToolResult

log = logging.getLogger(__name__)

#: A tool that enforces its own time limit gets this much longer before it is cut off.
_MARGIN_SECONDS = 1.0

SendOutput = Callable[[str, str, str], None]


class BufferedBackend(LocalBackend):
    """`private` are the sidecar's own directories, with its token: no tool reads or writes them."""

    def __init__(
        self,
        registry: Registry,
        data_dir: Path,
        buffers: Buffers,
        private: Sequence[Path],
        sandboxes: Sandboxes,
        limits: CommandLimits,
    ) -> None:
        super().__init__(registry, data_dir, sandboxes=sandboxes, limits=limits, private=private)
        self._buffers = buffers

    async def run(self, tool: AnyTool, args: JsonObject, call: Call, output: Output) -> ToolResult:
        """Validates again: the sidecar may have another version than this shell."""
        arguments = validate(tool, args, call.workspace)
        host = self._local(call.workspace)
        if call.approved or hasattr(tool, "prepare"):
            host = host.with_secrets()
        if not hasattr(tool, "prepare"):  # checking the protocol itself would cost more than many calls
            return await self._supervisor.run(cast("Tool[Arguments]", tool), arguments, call, host, output)
        prepared = await tool.prepare(arguments, host, call)
        # A cancel waits for the end, so that no change is half done.
        # Where an approved path leads is in the question that you answered.
        changes = prepared.changes if call.approved else [await locate(host, each) for each in prepared.changes]
        await run_to_completion(apply_all(host, changes))
        return prepared.result

    def _make_host(self, *args: Any) -> LocalHost:
        host = BufferHost(*args)
        host.buffers = self._buffers
        return host


class CallAnswer(NamedTuple):
    """Either a result or an error, and the processes that ended with the call."""

    result: ResultBody | None
    error: ErrorBody | None
    killed: list[EndedProcess]


class CallRunner(Protocol):
    async def run(self, wanted: OpenCall) -> CallAnswer:
        """Never raises: even a cancel returns an answer."""


class ShellCallRunner:
    def __init__(self, registry: Registry, backend: BufferedBackend, send_output: SendOutput) -> None:
        self._registry = registry
        self._backend = backend
        self._output = _OutputLedger(send_output)

    async def run(self, wanted: OpenCall) -> CallAnswer:
        """Never raises: even a cancel returns an answer, once everything that the call started is gone."""
        killed: list[EndedProcess] = []

        def on_killed(pid: int, command: str) -> None:
            killed.append(EndedProcess(pid=pid, command=command))

        timeout = max(0.001, wanted.timeout_ms / 1000)
        call = Call(
            wanted.id,
            wanted.workspace,
            timeout,
            wanted.environment or {},
            on_killed,
            bool(wanted.approved),
            tuple(wanted.hosts or ()),
            tuple(wanted.readable or ()),
        )
        output = LiveOutput(self._output, wanted.id)
        try:
            result = await self._run(wanted, call, output)
        except ToolError as error:
            return CallAnswer(None, error.body, killed)
        except asyncio.CancelledError:
            return CallAnswer(None, ErrorBody(code="cancelled", message="The call was cancelled."), killed)
        except Exception:
            log.exception("%s failed", wanted.tool)
            error_body = ErrorBody(code="tool_failed", message=f"{wanted.tool} failed in the shell.")
            return CallAnswer(None, error_body, killed)
        finally:
            output.close()
        return CallAnswer(result.model_copy(update={"killed": killed or None}), None, killed)

    async def _run(self, wanted: OpenCall, call: Call, output: LiveOutput) -> ResultBody:
        tool = self._registry.get(wanted.tool)
        try:
            async with asyncio.timeout(call.timeout + _MARGIN_SECONDS):
                result = await self._backend.run(tool, wanted.args, call, output)
        except TimeoutError as error:
            raise TimedOut(f"{wanted.tool} took longer than {call.timeout:g} s and was ended.") from error
        content = result.content
        if not content.isascii():
            content = content.encode("utf-8", "replace").decode()
        return ResultBody(content=content, details=result.details, summary=result.summary, error=result.error)


class _OutputLedger(ListLedger):
    """A ledger that sends live output on, and keeps nothing."""

    __slots__ = ("_send_output",)

    def __init__(self, send_output: SendOutput) -> None:
        super().__init__()
        self._send_output = send_output

    def live(self, event: Event) -> None:
        if isinstance(event, ToolOutputEvent):
            self._send_output(event.call_id, event.stream, event.text)
