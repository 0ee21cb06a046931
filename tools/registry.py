"""The tools by name. A model's habits (`ls`, `grep`, `str_replace`…) find the same tools by other names."""

import difflib
from collections.abc import Iterable, Iterator

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


class Registry:
    def __init__(self, tools: Iterable[AnyTool], aliases: dict[str, str] | None = None) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._aliases = ALIASES if aliases is None else aliases

    def get(self, name: str) -> AnyTool:
        tool = self._tools.get(self._aliases.get(name, name)) if name not in self._tools else self._tools[name]
        if tool is None:
            near = difflib.get_close_matches(name[:100], [*self._tools, *self._aliases], n=1)
            hint = f" Did you mean {self._aliases.get(near[0], near[0])}?" if near else ""
            raise UnknownTool(f"There is no tool {name[:100]!r}.{hint} Tools: {', '.join(self._tools)}.")
        return tool

    def infos(self) -> list[ToolInfo]:
        return [tool.spec.info() for tool in self]

    def __contains__(self, name: str) -> bool:
        return name in self._tools or self._aliases.get(name) in self._tools

    def __iter__(self) -> Iterator[AnyTool]:
        return iter(self._tools.values())


def default_registry() -> Registry:
    from tools.builtin import all_tools

    return Registry(all_tools())
