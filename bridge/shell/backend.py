"""This shell as a place where calls are carried out: the tools that the sidecar has, over the open buffers."""

from pathlib import Path
from typing import cast

from bridge.shell.buffers import BufferHost, Buffers
from sidecar.wire.base import JsonObject
from tools.executor.file_changes import apply_all
from tools.executor.registry import Registry
from tools.executor.validation import validate
from tools.host import Host
from tools.local import LocalBackend
from tools.local.host import LocalHost
from tools.local.limits import Limits
from tools.local.sandbox import Sandboxes
from tools.shield import run_to_completion
from tools.spec import AnyTool, Arguments, Call, Output, Tool, ToolResult


class BufferedBackend(LocalBackend):
    """`private` is the sidecar's own directory, with its token: no tool reads or writes it, here no more than there."""

    def __init__(
        self,
        registry: Registry,
        data_dir: Path,
        buffers: Buffers,
        private: Path,
        sandboxes: Sandboxes,
        limits: Limits,
    ) -> None:
        super().__init__(registry, data_dir, sandboxes=sandboxes, limits=limits, private=private)
        self._buffers = buffers

    async def run(self, tool: AnyTool, args: JsonObject, call: Call, output: Output) -> ToolResult:
        """Checked here once more: the sidecar may be of another age than this shell."""
        arguments = validate(tool, args, call.workspace)
        local = self._local(call.workspace)
        if not hasattr(tool, "prepare"):  # a check against the protocol itself costs more than many a call
            return await self._custody.run(
                cast("Tool[Arguments]", tool), arguments, call, local, output, self._with_buffers
            )
        host = self._with_buffers(local)
        prepared = await tool.prepare(arguments, host, call)
        # Once begun, a cancel waits for the end: no file is left half of the way.
        await run_to_completion(apply_all(host, prepared.changes))
        return prepared.result

    def host(self, workspace: str) -> Host:
        return self._with_buffers(self._local(workspace))

    def _with_buffers(self, local: LocalHost) -> Host:
        return BufferHost(local, self._buffers)
