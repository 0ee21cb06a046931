"""Which tools a model is told of: the usual ones at once, the others by name, and in full once it asks for them.

What an agent may call is not decided here: it may call every tool of its roster, told of or not. What was asked for is
read off the conversation, so that a resumed task is offered the same. A tool is only ever added at the end: what a
provider keeps of the beginning is lost at most once for each time that the model asks.
"""

from collections.abc import Sequence

from sidecar.models.encoding import encode_json
from sidecar.models.port import ModelTurn, ToolReturn, ToolUse, Turn
from sidecar.wire.tools import ToolInfo

#: Bytes, in the longest of the providers' ways of saying it, for everything that is offered at first.
BUDGET = 3_205
#: Of these, the most that the names of the others may take.
_NAMES = 500
MORE = "more_tools"
#: Those that most tasks need come first; what does not fit any more waits until it is asked for.
USUAL = (
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
                if call.tool == MORE:
                    self.fetch(call)

    def _first(self, budget: int) -> tuple[ToolInfo, ...]:
        order = [name for name in USUAL if name in self._tools] or list(self._tools)
        first: list[ToolInfo] = []
        left = budget - size(self._rest(order))
        for name in order:
            needed = size(self._tools[name])
            if needed <= left:
                first.append(self._tools[name])
                left -= needed
            else:
                # Then it is named with the others.
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
        """Answers a call of `more_tools`: what it names is offered from the next request on."""
        there = {tool.name for tool in self.offered}
        named = call.args.get("names")
        names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
        new = [self._tools[name] for name in dict.fromkeys(names) if name in self._tools and name not in there]
        unknown = [name[:60] for name in names if name not in self._tools]
        said = [f"Now described to you: {', '.join(tool.name for tool in new)}."] if new else []
        if unknown or not names:
            waiting = [f"{name}: {tool.description}" for name, tool in self._tools.items() if name not in there]
            said += [f"You have no tool {', '.join(unknown)}."] if unknown else []
            said.append("\n".join(["Further tools:", *waiting]) if waiting else "Every tool is described to you.")
        elif not new:
            said.append("They are described to you already.")
        if new:
            self.offered = (*self.offered, *new)
        status = "error" if unknown and not new else "success"
        return ToolReturn(id=call.id, tool=call.tool, status=status, content="\n".join(said))


def size(tool: ToolInfo) -> int:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return len(encode_json({"type": "function", "function": function})) + 1


def _fits(tools: Sequence[ToolInfo], budget: int) -> bool:
    left = budget
    for tool in tools:
        left -= size(tool)
        if left < 0:
            return False
    return True


def _more(names: Sequence[str]) -> ToolInfo:
    told, left = [], _NAMES
    for name in names:
        left -= len(name) + 2
        if left < 5:
            told.append("…")
            break
        told.append(name)
    return ToolInfo(
        name=MORE,
        description=f"Get the descriptions of further tools, by name (none: list all): {', '.join(told)}",
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
