"""This process as a place where calls are carried out. It offers every tool, in every workspace."""

from collections.abc import Container
from pathlib import Path
from typing import cast

from sidecar.wire.base import JsonObject
from tools.errors import WorkspaceGone
from tools.host import Host, Killed
from tools.local.custody import Custody
from tools.local.environment import sidecar_mark
from tools.local.host import LocalHost
from tools.local.limits import Limits
from tools.local.process import Processes
from tools.local.reaper import Reaper
from tools.local.sandbox import Sandboxes
from tools.local.scan import Shelf
from tools.local.table import ProcessTable, process_table
from tools.spec import AnyTool, Arguments, Call, Output, Tool, ToolResult, changes_files

_HOSTS = 64


class LocalBackend:
    name = "local"

    def __init__(
        self,
        tools: Container[str],
        data_dir: Path,
        table: ProcessTable | None = None,
        sandboxes: Sandboxes | None = None,
        limits: Limits | None = None,
        private: Path | None = None,
    ) -> None:
        mark = sidecar_mark(data_dir)
        self._tools = tools
        self._data_dir = data_dir
        self._processes = Processes(data_dir, mark, Reaper(table or process_table(), mark))
        self._shelf = Shelf()
        self._hosts: dict[str, LocalHost] = {}
        #: Where the sidecar's token is: no tool reads or writes there.
        self._private = private or data_dir
        hidden = (data_dir, self._private)
        self._custody = Custody(self._processes, sandboxes, limits, hidden, data_dir / "aside")

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
            if len(self._hosts) >= _HOSTS:
                self._hosts.pop(next(iter(self._hosts))).forget()
            host = self._hosts[workspace] = LocalHost(
                workspace, self._data_dir, self._processes, self._shelf, self._private, self._custody.wrote
            )
        return host

    async def run(self, tool: AnyTool, args: JsonObject, call: Call, output: Output) -> ToolResult:
        host = self._local(call.workspace)
        arguments = tool.spec.arguments.model_validate(args, context=call.workspace)
        if changes_files(tool):
            prepared = await tool.prepare(arguments, host, call)
            for change in prepared.changes:
                await host.apply(change)
            return prepared.result
        return await self._custody.run(cast("Tool[Arguments]", tool), arguments, call, host, output)

    async def sweep(self) -> list[Killed]:
        """At a start: end everything that an earlier, killed process with this data directory left running."""
        return list(await self._processes.sweep(None))

    async def close(self) -> None:
        await self._processes.close()
        await self._custody.close()
        for host in self._hosts.values():
            host.close()
        self._hosts.clear()
