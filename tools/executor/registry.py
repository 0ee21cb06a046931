"""Tools by name, including the names that models are used to (`ls`, `grep`, `str_replace`…)."""

import asyncio
import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sidecar.wire.tools import ToolInfo
from tools.errors import UnknownTool
from tools.spec import AnyTool

ALIASES = {
    "ls": "list_dir",
    "dir": "list_dir",
    "list_directory": "list_dir",
    "list_files": "list_dir",
    "cat": "read_file",
    "view": "read_file",
    "open_file": "read_file",
    "head": "read_file",
    "read": "read_file",
    "read_many_files": "read_files",
    "tree": "read_directory_tree",
    "directory_tree": "read_directory_tree",
    "glob": "find_files",
    "find": "find_files",
    "file_search": "find_files",
    "grep": "search_code",
    "rg": "search_code",
    "ripgrep": "search_code",
    "search": "search_code",
    "grep_search": "search_code",
    "search_files": "search_code",
    "write": "write_file",
    "save_file": "write_file",
    "create": "create_file",
    "new_file": "create_file",
    "touch": "create_file",
    "edit": "edit_file",
    "str_replace": "edit_file",
    "replace": "edit_file",
    "replace_in_file": "edit_file",
    "search_replace": "edit_file",
    "multiedit": "multi_edit",
    "patch": "apply_patch",
    "apply_diff": "apply_patch",
    "mv": "move_file",
    "rename": "move_file",
    "rename_file": "move_file",
    "rm": "delete_file",
    "remove_file": "delete_file",
    "shell": "run_command",
    "bash": "run_command",
    "sh": "run_command",
    "exec": "run_command",
    "execute": "run_command",
    "terminal": "run_command",
    "execute_command": "run_command",
    "run_terminal_cmd": "run_command",
    "run_shell_command": "run_command",
    "bash_output": "command_output",
    "kill_bash": "stop_command",
    "kill_command": "stop_command",
    "test": "run_tests",
    "run_test": "run_tests",
    "pytest": "run_tests",
    "diagnostics": "get_diagnostics",
    "get_errors": "get_diagnostics",
    "lint": "get_diagnostics",
    "outline": "analyze_code",
    "analyze": "analyze_code",
    "symbols": "find_symbols",
    "find_symbol": "find_symbols",
    "workspace_info": "get_workspace_info",
}


Loader = Callable[[], AnyTool]


class ToolSource(Protocol):
    """Tools that aren't ours and depend on workspace and conversation: of MCP servers, shells and plug-ins."""

    def find(self, name: str, workspace: str, conversation: str = "") -> AnyTool | None: ...

    def tools(self, workspace: str, conversation: str = "") -> Sequence[AnyTool]: ...

    async def prepare(self, name: str, workspace: str, conversation: str = "") -> None:
        """Find out what can be known about a tool that `find` doesn't know. Raises `ToolError`."""

    def start(self, workspace: str) -> None:
        """A task begins there: find out in the background which tools there are."""


class Registry:
    """Built from tools, or from loaders by name, so that a tool is imported when first used.

    `described` is a file with what models see of tools, so that they can be offered before that.
    """

    def __init__(
        self,
        tools: Iterable[AnyTool] = (),
        loaders: Mapping[str, Loader] | None = None,
        described: Path | None = None,
    ) -> None:
        self._described = described
        self._written: dict[str, Any] | None = None
        self._tools = {tool.spec.name: tool for tool in tools}
        self._loaders = dict(loaders or {})
        self._infos: dict[str, ToolInfo] = {}
        self._offers: dict[str, ToolInfo] = {}
        self._names = dict.fromkeys((*self._loaders, *self._tools))
        #: Our own tools come first, so that no other tool can take their names.
        self.sources: list[ToolSource] = []
        #: Your choice whether a tool may run beside other calls.
        self.parallel: Mapping[str, bool] = {}

    def find(self, name: str, workspace: str = "", conversation: str = "") -> AnyTool | None:
        called, name = name, self._own_name(name)
        tool = self._tools.get(name)
        if tool is not None:
            return tool
        if name in self._loaders:
            tool = self._tools[name] = self._loaders[name]()
            return tool
        for source in self.sources:
            if (tool := source.find(called, workspace, conversation)) is not None:
                return tool
        return None

    def _own_name(self, name: str) -> str:
        return name if name in self._names else ALIASES.get(name, name)

    def get(self, name: str, workspace: str = "", conversation: str = "") -> AnyTool:
        """Raises `UnknownTool`."""
        if (tool := self.find(name, workspace, conversation)) is not None:
            return tool
        import difflib

        near = difflib.get_close_matches(name[:100], [*self._names, *ALIASES], n=1)
        hint = (
            f"Did you mean {ALIASES.get(near[0], near[0])}?" if near else f"Available tools: {', '.join(self._names)}."
        )
        raise UnknownTool(f"Unknown tool {name[:100]!r}. {hint}")

    async def load(self, names: Iterable[str]) -> None:
        """Import in a thread, because that blocks the loop."""
        own = map(self._own_name, names)
        missing = [name for name in own if name in self._loaders and name not in self._tools]
        if missing:
            self._tools = await asyncio.to_thread(self._import, missing) | self._tools

    def _import(self, names: Iterable[str]) -> dict[str, AnyTool]:
        loaded = {name: self._loaders[name]() for name in names}
        for tool in loaded.values():
            tool.spec.arguments.model_rebuild()
        return loaded

    async def describe(self, names: Iterable[str]) -> None:
        """Before `offers`: tool by tool, because all at once blocks the loop."""
        await self.load([name for name in names if name not in self._offers and self._written_offer(name) is None])
        for name in names:
            if name in self._names and name not in self._offers:
                self.offers({name})
                await asyncio.sleep(0)

    def _written_offer(self, name: str) -> Any:
        if self._written is None:
            text = "{}" if self._described is None else self._described.read_text(encoding="utf-8")
            self._written = json.loads(text)
        return self._written.get(name)

    async def prepare(self, name: str, workspace: str, conversation: str = "") -> AnyTool:
        """As `get`, also for a tool that must be imported, or that its source must ask for. Raises `ToolError`."""
        if (tool := self._tools.get(name)) is not None:
            return tool  # each call asks
        await self.load([name])
        if (tool := self.find(name, workspace, conversation)) is not None:
            return tool
        for source in self.sources:
            await source.prepare(name, workspace, conversation)
        return self.get(name, workspace, conversation)

    def start(self, workspace: str) -> None:
        for source in self.sources:
            source.start(workspace)

    def external(self, workspace: str, conversation: str = "") -> list[AnyTool]:
        """The tools that aren't ours and serve this conversation; the first source of a name wins."""
        found: dict[str, AnyTool] = {}
        for source in self.sources:
            for tool in source.tools(workspace, conversation):
                if tool.spec.name not in self:
                    found.setdefault(tool.spec.name, tool)
        return list(found.values())

    def infos(self, names: Container[str] | None = None) -> list[ToolInfo]:
        """Tools as panels and scripts see them, all or those in `names`."""
        wanted = [name for name in self._names if names is None or name in names]
        for name in wanted:
            if name not in self._infos:
                info = self.get(name).spec.info()
                self._infos[name] = info.model_copy(update={"parallel": self.parallel.get(name, info.parallel)})
        return [self._infos[name] for name in wanted]

    def offers(self, names: Container[str]) -> list[ToolInfo]:
        """Tools as models see them, shortened."""
        wanted = [name for name in self._names if name in names]
        for name in wanted:
            if name not in self._offers:
                written = self._written_offer(name) if name in self._loaders else None
                self._offers[name] = self.get(name).spec.offer() if written is None else ToolInfo(**written)
        return [self._offers[name] for name in wanted]

    def names(self) -> Sequence[str]:
        return [*self._names]

    def __contains__(self, name: object) -> bool:
        return name in self._names or (isinstance(name, str) and ALIASES.get(name) in self._names)

    def __iter__(self) -> Iterator[AnyTool]:
        return (self.get(name) for name in self._names)


def parse_parallel(names: Iterable[str]) -> dict[str, bool]:
    """`name` may run beside other calls, `-name` may not."""
    return {name.removeprefix("-").strip(): not name.startswith("-") for name in names}


def default_registry(more: Mapping[str, Loader] | None = None) -> Registry:
    """The built-in tools, and those that need more than a host."""
    from tools.builtin import LOADERS, OFFERS

    return Registry(loaders={**LOADERS, **(more or {})}, described=OFFERS)
