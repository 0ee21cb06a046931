"""Selects the tools that a model gets descriptions of: common ones at once, others after it asks for them by name.

This doesn't limit what an agent may call: it may call every tool of its roster. The selection depends only on the
conversation, so a resumed task offers the same. Tools that aren't ours may be hundreds: beyond a few, only their
servers are named, and the model searches for them. Tools are only ever added at the end, so that a provider's prompt
cache is lost at most once for each time the model asks.
"""

from collections import Counter
from collections.abc import Sequence

from sidecar.models.encoding import encode_json
from sidecar.models.port import ModelTurn, ToolReturn, ToolUse, Turn
from sidecar.wire.base import JsonObject
from sidecar.wire.tools import ToolInfo
from tools.text import first_words

#: Bytes for all descriptions in the first request, in the most verbose provider format.
BUDGET = 3_400
#: The same for an agent that only reads, whose answers are short.
_READING_BUDGET = 2_200
#: Of these, bytes for the names of the other tools.
_NAMES_BUDGET = 500
#: Bytes for tools that aren't ours, beside the budget: all their descriptions, or else the names of their servers.
EXTERNAL_BUDGET = 2_000
_SERVERS_BUDGET = 700
_FOUND = 5
MORE_TOOLS = "more_tools"
#: Tools that most tasks need, the most common first.
COMMON = (
    "read_file",
    "search_code",
    "edit_file",
    "run_command",
    "set_mode",
    "run_tests",
    "multi_edit",
    "write_file",
    "find_files",
    "list_dir",
    "git_diff",
    "find_symbols",
    "get_diagnostics",
    "git_status",
)
#: So many of them come before the tools that an agent begins with.
_ALWAYS = 2


class ToolSelection:
    def __init__(
        self,
        tools: Sequence[ToolInfo],
        history: Sequence[Turn] = (),
        external: Sequence[ToolInfo] = (),
        first: Sequence[str] = (),
    ) -> None:
        self._order = tuple(dict.fromkeys((*COMMON[:_ALWAYS], *first, *COMMON)))
        self._tools = {tool.name: tool for tool in tools}
        self._external = {tool.name: tool for tool in external}
        self._sizes: dict[str, int] = {}
        budget = BUDGET if any(tool.effects == "files" for tool in tools) else _READING_BUDGET
        described = self._fits(external, EXTERNAL_BUDGET)
        self._servers = "" if described else _name_servers(external)
        self.offered: Sequence[ToolInfo] = tuple(tools) if self._fits(tools, budget) else self._first(budget)
        if described:
            self.offered = (*self.offered, *external)
        elif all(tool.name != MORE_TOOLS for tool in self.offered):
            self.offered = (*self.offered, self._rest(list(self._tools)))
        for turn in history:
            for call in turn.calls if isinstance(turn, ModelTurn) else ():
                if call.tool == MORE_TOOLS:
                    self.fetch(call)

    def _first(self, budget: int) -> tuple[ToolInfo, ...]:
        order = [name for name in self._order if name in self._tools] or list(self._tools)
        first: list[ToolInfo] = []
        left = budget - description_size(self._rest(order))
        for name in order:
            needed = self._size(self._tools[name])
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
        return _more([name for name in self._tools if name not in first], self._servers)

    @property
    def offered_size(self) -> int:
        return sum(map(self._size, self.offered))

    def _fits(self, tools: Sequence[ToolInfo], budget: int) -> bool:
        left = budget
        for tool in tools:
            left -= self._size(tool)
            if left < 0:
                return False
        return True

    def _size(self, tool: ToolInfo) -> int:
        if tool.name == MORE_TOOLS:
            return description_size(tool)  # it changes
        if tool.name not in self._sizes:
            self._sizes[tool.name] = description_size(tool)
        return self._sizes[tool.name]

    def widen(self, tools: Sequence[ToolInfo]) -> None:
        """Adds the common ones of these tools; the rest can be asked for by name."""
        self._tools.update({tool.name: tool for tool in tools})
        for tool in ToolSelection(tools).offered:
            if tool.name != MORE_TOOLS:
                self.offer(tool)

    def offer(self, tool: ToolInfo) -> None:
        if all(each.name != tool.name for each in self.offered):
            self.offered = (*self.offered, tool)

    def fetch(self, call: ToolUse) -> ToolReturn:
        """Answers `more_tools`: the named or found tools are described from the next request on."""
        offered = {tool.name for tool in self.offered}
        known = {**self._external, **self._tools}
        named, query = call.args.get("names"), call.args.get("query")
        names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
        if isinstance(query, str) and query.strip():
            return self._search(call, query, offered)
        new = [known[name] for name in dict.fromkeys(names) if name in known and name not in offered]
        unknown = [name[:60] for name in names if name not in known]
        lines = [f"Now described to you: {', '.join(tool.name for tool in new)}."] if new else []
        lines += [f"You have no tool {', '.join(unknown)}."] if unknown else []
        # A model that got some of the tools read the other names in our own description.
        if not names or (unknown and not new):
            waiting = [f"{name}: {tool.description}" for name, tool in self._tools.items() if name not in offered]
            lines.append("\n".join(["Further tools:", *waiting]) if waiting else "Every tool is described to you.")
            lines += [f"Search with `query` for tools of {self._servers}."] if self._servers else []
        elif not new and not unknown:
            lines.append("They are described to you already.")
        if new:
            self.offered = (*self.offered, *new)
        status = "error" if unknown and not new else "success"
        return ToolReturn(id=call.id, tool=call.tool, status=status, content="\n".join(lines))

    def _search(self, call: ToolUse, query: str, offered: set[str]) -> ToolReturn:
        from sidecar.work.tool_search import ToolIndex

        found = ToolIndex([*self._external.values(), *self._tools.values()]).search(query, _FOUND)
        new = [tool for tool in found if tool.name not in offered]
        self.offered = (*self.offered, *new)
        lines = [f"{tool.name}: {first_words(tool.description, 300)}" for tool in found]
        content = "\n".join(["Found; you can call them now:", *lines] if found else ["No tool fits these words."])
        return ToolReturn(id=call.id, tool=call.tool, status="success", content=content)


def description_size(tool: ToolInfo) -> int:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return len(encode_json({"type": "function", "function": function})) + 1


def _name_servers(tools: Sequence[ToolInfo]) -> str:
    """`files (12), github (90)`: sorted, so that the prompt stays the same from task to task."""
    counts = Counter(tool.name.partition("__")[0] if "__" in tool.name else "others" for tool in tools)
    listed, left = [], _SERVERS_BUDGET
    for server, count in sorted(counts.items()):
        entry = f"{server} ({count})"
        left -= len(entry) + 2
        if left < 5:
            listed.append("…")
            break
        listed.append(entry)
    return ", ".join(listed)


def _more(names: Sequence[str], servers: str = "") -> ToolInfo:
    listed, left = [], _NAMES_BUDGET
    for name in names:
        left -= len(name) + 2
        if left < 5:
            listed.append("…")
            break
        listed.append(name)
    search = f". Search the tools of these servers with `query`: {servers}" if servers else ""
    parameters: JsonObject = {
        "type": "object",
        "properties": {"names": {"type": "array", "items": {"type": "string"}}},
        "required": ["names"],
    }
    if servers:
        fields: JsonObject = {"names": {"type": "array", "items": {"type": "string"}}, "query": {"type": "string"}}
        parameters = {"type": "object", "properties": fields}
    return ToolInfo(
        name=MORE_TOOLS,
        description=f"Get the descriptions of further tools, by name (none: list all): {', '.join(listed)}{search}",
        parameters=parameters,
        executor="local",
        timeout=1,
        retryable=False,
        parallel=True,
        effects="none",
    )
