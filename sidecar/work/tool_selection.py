"""Selects the tools that a model gets descriptions of: common ones at once, others after it asks for them by name.

This doesn't limit what an agent may call: it may call every tool of its roster. The selection depends only on the
conversation, so a resumed task offers the same. Tools are only ever added at the end, so that a provider's prompt cache
is lost at most once for each time the model asks.
"""

from collections.abc import Sequence

from sidecar.models.encoding import encode_json
from sidecar.models.port import ModelTurn, ToolReturn, ToolUse, Turn
from sidecar.wire.tools import ToolInfo

#: Bytes for all descriptions in the first request, in the most verbose provider format.
BUDGET = 3_205
#: Of these, bytes for the names of the other tools.
_NAMES_BUDGET = 500
MORE_TOOLS = "more_tools"
#: Tools that most tasks need, the most common first.
COMMON = (
    "read_file",
    "search_code",
    "edit_file",
    "run_command",
    "write_file",
    "run_tests",
    "find_files",
    "list_dir",
    "git_diff",
    "find_symbols",
    "get_diagnostics",
    "git_status",
)


class ToolSelection:
    def __init__(self, tools: Sequence[ToolInfo], history: Sequence[Turn] = (), budget: int = BUDGET) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.offered: Sequence[ToolInfo] = tuple(tools) if _fits(tools, budget) else self._first(budget)
        for turn in history:
            for call in turn.calls if isinstance(turn, ModelTurn) else ():
                if call.tool == MORE_TOOLS:
                    self.fetch(call)

    def _first(self, budget: int) -> tuple[ToolInfo, ...]:
        order = [name for name in COMMON if name in self._tools] or list(self._tools)
        first: list[ToolInfo] = []
        left = budget - description_size(self._rest(order))
        for name in order:
            needed = description_size(self._tools[name])
            if needed <= left:
                first.append(self._tools[name])
                left -= needed
            else:
                # It is listed by name instead.
                left -= len(name) + 2
        if left < 0 and first:
            first.pop()
        return (*first, self._rest([tool.name for tool in first]))

    def _rest(self, first: Sequence[str]) -> ToolInfo:
        return _more([name for name in self._tools if name not in first])

    def offer(self, tool: ToolInfo) -> None:
        if all(each.name != tool.name for each in self.offered):
            self.offered = (*self.offered, tool)

    def fetch(self, call: ToolUse) -> ToolReturn:
        """Answers `more_tools`: the named tools are described from the next request on."""
        offered = {tool.name for tool in self.offered}
        named = call.args.get("names")
        names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
        new = [self._tools[name] for name in dict.fromkeys(names) if name in self._tools and name not in offered]
        unknown = [name[:60] for name in names if name not in self._tools]
        lines = [f"Now described to you: {', '.join(tool.name for tool in new)}."] if new else []
        if unknown or not names:
            waiting = [f"{name}: {tool.description}" for name, tool in self._tools.items() if name not in offered]
            lines += [f"You have no tool {', '.join(unknown)}."] if unknown else []
            lines.append("\n".join(["Further tools:", *waiting]) if waiting else "Every tool is described to you.")
        elif not new:
            lines.append("They are described to you already.")
        if new:
            self.offered = (*self.offered, *new)
        status = "error" if unknown and not new else "success"
        return ToolReturn(id=call.id, tool=call.tool, status=status, content="\n".join(lines))


def description_size(tool: ToolInfo) -> int:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return len(encode_json({"type": "function", "function": function})) + 1


def _fits(tools: Sequence[ToolInfo], budget: int) -> bool:
    left = budget
    for tool in tools:
        left -= description_size(tool)
        if left < 0:
            return False
    return True


def _more(names: Sequence[str]) -> ToolInfo:
    listed, left = [], _NAMES_BUDGET
    for name in names:
        left -= len(name) + 2
        if left < 5:
            listed.append("…")
            break
        listed.append(name)
    return ToolInfo(
        name=MORE_TOOLS,
        description=f"Get the descriptions of further tools, by name (none: list all): {', '.join(listed)}",
        parameters={
            "type": "object",
            "properties": {"names": {"type": "array", "items": {"type": "string"}}},
            "required": ["names"],
        },
        executor="local",
        timeout=1,
        retryable=False,
        parallel=True,
        effects="none",
    )
