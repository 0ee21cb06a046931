"""The backend of this process. It offers every tool in every workspace."""

import os
from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import Any, cast

from sidecar.wire.base import JsonObject
from tools.errors import WorkspaceGone
from tools.host import Host, Killed
from tools.local.confinement import CommandLimits
from tools.local.environment import sidecar_mark
from tools.local.host import LocalHost
from tools.local.processes import Processes
from tools.local.reaper import ProcessTable, Reaper, process_table
from tools.local.sandbox.probe import Sandboxes
from tools.local.snapshots import MemoryBudget
from tools.local.supervisor import CommandSupervisor
from tools.spec import AnyTool, Arguments, Call, Output, Tool, ToolResult, changes_files

_MAX_HOSTS = 64


class LocalBackend:
    """No tool reads or writes in `data_dir` and `private`: they hold the sidecar's token and configuration.

    `trusted`: whether you trust a workspace.
    """

    name = "local"

    def __init__(
        self,
        tools: Container[str],
        data_dir: Path,
        table: ProcessTable | None = None,
        sandboxes: Sandboxes | None = None,
        limits: CommandLimits | None = None,
        private: Sequence[Path] = (),
        trusted: Callable[[str], bool] = lambda workspace: False,
        *,
        attributes: bool = True,
    ) -> None:
        mark = sidecar_mark(data_dir)
        self._tools = tools
        self._sandboxes = sandboxes
        self._trusted = trusted
        self._attributes = attributes
        self._data_dir = data_dir
        self._processes = Processes(data_dir, mark, Reaper(table or process_table(), mark))
        self._memory = MemoryBudget()
        self._hosts: dict[str, LocalHost] = {}
        self._private = private
        hidden = (data_dir, *private)
        self._supervisor = CommandSupervisor(self._processes, sandboxes, limits, hidden, data_dir / "aside")

    @property
    def processes(self) -> Processes:
        return self._processes

    def offers(self, tool: str, workspace: str) -> bool:
        return tool in self._tools

    def remembers(self, call_id: str) -> bool:
        return False

    def host(self, workspace: str) -> Host:
        return self._local(workspace)

    def _local(self, workspace: str) -> LocalHost:
        host = self._hosts.get(workspace)
        if host is None:
            if not Path(workspace).is_absolute():
                raise WorkspaceGone(f"The workspace must be an absolute path, not {workspace!r}.")
            if len(self._hosts) >= _MAX_HOSTS:
                self._hosts.pop(next(iter(self._hosts))).free_memory()
            record_write = self._supervisor.record_write
            host = self._make_host(
                workspace,
                self._data_dir,
                self._processes,
                self._memory,
                self._private,
                record_write,
                self._sandboxes,
                self._trusted,
            )
            host.attributes = self._may_attribute
            self._hosts[workspace] = host
        return host

    async def _may_attribute(self) -> bool:
        """Whether commands may lose the right to gain rights: root keeps it, and a sandbox takes it anyway."""
        sandboxes = self._sandboxes
        return self._attributes and (sandboxes is None or os.geteuid() == 0 or await sandboxes.find() is not None)

    def _make_host(self, *args: Any) -> LocalHost:
        """The arguments of `LocalHost`, for a backend with another kind of host."""
        return LocalHost(*args)

    async def run(self, tool: AnyTool, args: JsonObject, call: Call, output: Output) -> ToolResult:
        host = self._local(call.workspace)
        if call.approved or changes_files(tool):
            host = host.with_secrets()
        arguments = tool.spec.arguments.model_validate(args, context=call.workspace)
        if changes_files(tool):
            prepared = await tool.prepare(arguments, host, call)
            for change in prepared.changes:
                await host.apply(change)
            return prepared.result
        return await self._supervisor.run(cast("Tool[Arguments]", tool), arguments, call, host, output)

    async def sweep(self) -> list[Killed]:
        """At the start: end everything that an earlier process with this data directory left."""
        return list(await self._processes.sweep(None))

    async def close(self) -> None:
        await self._processes.close()
        await self._supervisor.close()
        for host in self._hosts.values():
            host.close()
        self._hosts.clear()
