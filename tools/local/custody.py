"""Commands in custody: inside the sandbox, within limits, and with somebody who looks after the protected files."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from tools.host import Host
from tools.local.cage import Cage
from tools.local.guard import Guard, told
from tools.local.host import LocalHost
from tools.local.limits import Limits
from tools.local.process import Processes
from tools.local.sandbox import Room, Sandboxes
from tools.spec import Arguments, Call, Output, Tool, ToolResult

_COMMANDS = frozenset({"run_command"})
#: Tools that tell what a command in the background came to.
_LATER = frozenset({"command_output", "stop_command"})
#: More of them would cost more to start than they protect; the guard looks after the rest.
_HELD = 200
#: Workspaces whose protected files are remembered; those at rest make room.
_GUARDS = 16


class Custody:
    """`private` are directories that no command sees; `aside` is where what was taken back is kept."""

    def __init__(
        self,
        processes: Processes,
        sandboxes: Sandboxes | None,
        limits: Limits | None,
        private: tuple[Path, ...],
        aside: Path,
    ) -> None:
        self._processes = processes
        self._sandboxes = sandboxes
        self._limits = limits
        self._private = tuple(str(place.absolute()) for place in private)
        self._aside = aside
        self._guards: dict[str, Guard] = {}

    async def run(
        self,
        tool: Tool[Arguments],
        arguments: Arguments,
        call: Call,
        local: LocalHost,
        output: Output,
        seen: Callable[[LocalHost], Host] = lambda local: local,
    ) -> ToolResult:
        """What a model or a project says is run in custody; our own searches and Git are not.

        `seen` is the host as the tool gets to see it.
        """
        if tool.spec.name in _LATER:
            result = await tool.run(arguments, seen(local), call, output)
            return told(result, self._guard(local).report())
        if not (tool.spec.runs_project or tool.spec.name in _COMMANDS):
            return await tool.run(arguments, seen(local), call, output)
        sandbox = None if self._sandboxes is None else await self._sandboxes.found()
        room = Room(local.workspace, call.approved, self._private)
        guard, outlives = self._guard(local), partial(self._processes.outliving, call.id)
        if call.approved:
            free = seen(local.confined(Cage(sandbox, room, self._limits)))
            async with guard.aside_from(outlives):
                return await tool.run(arguments, free, call, output)
        async with guard.over(call.id, outlives) as watch:
            held = guard.hold(watch, _HELD) if sandbox is not None and sandbox.holds else []
            readonly = [f"{local.workspace}/{path}" for path in held]
            inside = seen(local.confined(Cage(sandbox, room, self._limits, readonly)))
            result = await tool.run(arguments, inside, call, output)
        return told(result, watch.taken)

    def wrote(self, local: LocalHost, path: str) -> None:
        """A tool changed a file, with the person's word where one was needed."""
        if (guard := self._guards.get(local.workspace)) is not None:
            guard.accept(path)

    async def close(self) -> None:
        """After the last command has ended."""
        for guard in self._guards.values():
            await guard.close()

    def _guard(self, local: LocalHost) -> Guard:
        guard = self._guards.get(local.workspace)
        if guard is None:
            if len(self._guards) >= _GUARDS:
                self._guards.pop(next((name for name, each in self._guards.items() if each.idle), ""), None)
            guard = self._guards[local.workspace] = Guard(local.root, self._aside)
        return guard
