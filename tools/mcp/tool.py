"""A listed tool as the executor sees it."""

from typing import Any

from pydantic import ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

from sidecar.wire.base import JsonObject
from tools.errors import ToolError
from tools.host import Host
from tools.mcp.entry import ServerEntry
from tools.mcp.listing import ListedTool
from tools.spec import Arguments, Call, External, Output, ToolResult, ToolSpec

#: The backend keeps the time limit itself: it is paused while you are asked something.
_WHOLE_DAY = 86_400.0
_MAX_UNREVIEWED = 20


class ExternalArguments(Arguments):
    """The server checks its arguments; we only check them against the outline of its schema."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=False, extra="ignore", frozen=True)

    def paths(self) -> tuple[str, ...]:
        return (".",)

    def time_limit(self, default: float) -> float:
        return _WHOLE_DAY


class ServerTool:
    """`run` is the backend's: this only says what the tool is."""

    def __init__(self, name: str, listed: ListedTool, entry: ServerEntry, *, accepted: bool, sandboxed: bool) -> None:
        self.entry = entry
        reads = entry.only_reads(listed.name)
        confined = sandboxed and entry.transport == "stdio" and not entry.grants.network
        self.spec = ToolSpec(
            name,
            # Nothing that a server wrote reaches a model before you accepted it.
            listed.description
            if accepted
            else f"A tool of the MCP server {entry.name}, which you have not accepted yet.",
            ExternalArguments,
            parameters=listed.schema if accepted else _outline(listed.schema),
            executor="mcp",
            timeout=entry.timeout,
            parallel=_parallel(entry, listed.name, reads=reads or listed.read_only),
            effects="none" if reads or listed.read_only else "command",
            external=External(
                source=f"the MCP server {entry.name}",
                allowed=entry.allows(listed.name),
                only_reads=reads,
                contained=confined and entry.own,
                changes_workspace=bool(entry.grants.write) or (entry.transport == "stdio" and not sandboxed),
                conversations=entry.conversations,
            ),
        )

    async def run(self, args: Any, host: Host, call: Call, output: Output) -> ToolResult:
        raise ToolError(f"{self.spec.name} runs on {self.entry.name} only.")


def _parallel(entry: ServerEntry, name: str, *, reads: bool) -> bool:
    wanted = {name, "*"}
    return (reads or not entry.parallel.isdisjoint(wanted)) and entry.serial.isdisjoint(wanted)


def _outline(schema: JsonObject) -> JsonObject:
    """Only the names and types of the arguments."""
    properties = schema.get("properties")
    named = properties if isinstance(properties, dict) else {}
    fields: JsonObject = {}
    for name, field in list(named.items())[:_MAX_UNREVIEWED]:
        kind = field.get("type") if isinstance(field, dict) else None
        fields[name[:64]] = {"type": kind} if isinstance(kind, str) else {}
    required = schema.get("required")
    needed: list[JsonValue] = [name for name in required if name in fields] if isinstance(required, list) else []
    return {"type": "object", "properties": fields, "required": needed}
