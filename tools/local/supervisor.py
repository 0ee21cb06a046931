"""Runs tools that start commands: in a sandbox, within limits, and with protected files monitored."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from pydantic import JsonValue

from tools.local.confinement import CommandLimits, Confinement
from tools.local.host import LocalHost
from tools.local.processes import Processes
from tools.local.protected_files import ProtectedFiles, add_reverted
from tools.local.sandbox.probe import Sandboxes
from tools.spec import Arguments, Call, Output, Tool, ToolResult

_COMMANDS = frozenset({"run_command"})
_GIT_WRITES = frozenset({"git_add", "git_commit"})
#: Tools that report on a background command.
_REPORTS = frozenset({"command_output", "stop_command"})
#: Holding more files would cost more at the start than it protects; the monitor covers the rest.
_MAX_HELD = 200
#: Workspaces with a monitor; idle ones make room.
_MAX_MONITORS = 16


class CommandSupervisor:
    """`private` are directories that no command sees; reverted files go to `quarantine`."""

    def __init__(
        self,
        processes: Processes,
        sandboxes: Sandboxes | None,
        limits: CommandLimits | None,
        private: tuple[Path, ...],
        quarantine: Path,
    ) -> None:
        self._processes = processes
        self._sandboxes = sandboxes
        self._limits = limits
        self._private = tuple(str(place.absolute()) for place in private)
        self._quarantine = quarantine
        self._monitors: dict[str, ProtectedFiles] = {}

    async def run(
        self,
        tool: Tool[Arguments],
        arguments: Arguments,
        call: Call,
        local: LocalHost,
        output: Output,
    ) -> ToolResult:
        """Confine commands of the model and of the project; the host confines our own searches and Git."""
        if tool.spec.name in _REPORTS:
            result = await tool.run(arguments, local, call, output)
            return add_reverted(result, self._monitor(local).take_report())
        if tool.spec.name in _GIT_WRITES:
            return await self._commit(tool, arguments, call, local, output)
        if not (tool.spec.runs_project or tool.spec.name in _COMMANDS):
            looking = local.for_one_call()
            return add_git_notes(await tool.run(arguments, looking, call, output), looking.git_notes)
        sandbox = None if self._sandboxes is None else await self._sandboxes.find()
        confinement = partial(
            Confinement,
            sandbox,
            self._limits,
            local.workspace,
            call.approved,
            self._private,
            granted=call.readable,
            hosts=call.hosts,
        )
        monitor, background_exit = self._monitor(local), partial(self._processes.background_exit, call.id)
        if call.approved:
            async with monitor.allow_changes(background_exit):
                return await tool.run(arguments, local.confined(confinement()), call, output)
        async with monitor.watch(call.id, background_exit) as watch:
            held = monitor.hold(watch, _MAX_HELD) if sandbox is not None and sandbox.holds_files else []
            inside = local.confined(confinement([f"{local.workspace}/{path}" for path in held]))
            result = await tool.run(arguments, inside, call, output)
        return add_reverted(result, watch.reverted)

    async def _commit(
        self, tool: Tool[Arguments], arguments: Arguments, call: Call, local: LocalHost, output: Output
    ) -> ToolResult:
        """Your approval of a commit is none for the network, or for what the hooks of a repository write."""
        sandbox = None if self._sandboxes is None else await self._sandboxes.find()
        monitor = self._monitor(local)
        async with monitor.watch(call.id, lambda: None) as watch:
            held = monitor.hold(watch, _MAX_HELD) if sandbox is not None and sandbox.holds_files else []
            readonly = [f"{local.workspace}/{path}" for path in held]
            confinement = Confinement(
                sandbox, self._limits, local.workspace, False, self._private, readonly, granted=call.readable
            )
            inside = local.confined(confinement)
            result = await tool.run(arguments, inside, call, output)
        return add_git_notes(add_reverted(result, watch.reverted), inside.git_notes)

    def record_write(self, local: LocalHost, path: str) -> None:
        """A tool changed a file, with approval where it needed one."""
        if (monitor := self._monitors.get(local.workspace)) is not None:
            monitor.accept(path)

    async def close(self) -> None:
        """Call it after the last command has ended."""
        for monitor in self._monitors.values():
            await monitor.close()

    def _monitor(self, local: LocalHost) -> ProtectedFiles:
        monitor = self._monitors.get(local.workspace)
        if monitor is None:
            if len(self._monitors) >= _MAX_MONITORS:
                self._monitors.pop(next((name for name, each in self._monitors.items() if each.idle), ""), None)
            monitor = self._monitors[local.workspace] = ProtectedFiles(local.root, self._quarantine)
        return monitor


def add_git_notes(result: ToolResult, notes: Iterable[str]) -> ToolResult:
    """Tell the model and the user what Git was kept from doing."""
    if not (listed := list(notes)):
        return result
    details: JsonValue = {**(result.details if isinstance(result.details, dict) else {}), "notes": [*listed]}
    return result._replace(content="\n".join([result.content, *listed]), details=details)
