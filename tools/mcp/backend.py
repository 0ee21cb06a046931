"""The backend `mcp`: runs calls on MCP servers, and tells the executor which tools they have."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue

from sidecar.wire.base import ErrorBody, JsonObject
from tools.errors import ToolError
from tools.mcp.connection import ServerFailed
from tools.mcp.elicitation import Elicitation
from tools.mcp.entry import ServerEntry
from tools.mcp.failures import sandbox_hint
from tools.mcp.listing import Listing, clean
from tools.mcp.servers import McpServers, subject
from tools.mcp.tool import ServerTool
from tools.spec import AnyTool, Call, CallReview, Output, ToolResult
from tools.text import clip

_SEPARATOR = "__"
#: What is kept of one text before anything else looks at it.
_MAX_TEXT = 500_000
_MAX_PARTS = 200
_MAX_IMAGES = 8
_MAX_IMAGE = 5_000_000
_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class McpBackend:
    name = "mcp"

    def __init__(self, servers: McpServers) -> None:
        self.servers = servers
        #: Made from an entry and a listing, and whether you accepted it.
        self._tools: dict[tuple[str, str, str], tuple[ServerEntry, Listing, bool, dict[str, ServerTool]]] = {}

    # -- as a source of tools ----------------------------------------------------------------------------------------

    def find(self, name: str, workspace: str, conversation: str = "") -> AnyTool | None:
        entry = self._entry(name, workspace, conversation)
        return self._tools_of(entry).get(name) if entry is not None else None

    def tools(self, workspace: str, conversation: str = "") -> Sequence[AnyTool]:
        """Of accepted sets and of servers that run."""
        entries = self.servers.entries(workspace, conversation).values()
        return [tool for entry in entries for tool in self._tools_of(entry).values()]

    async def prepare(self, name: str, workspace: str, conversation: str = "") -> None:
        """Ask the server of a still unknown tool for its tools. Raises `ServerFailed`."""
        entry = self._entry(name, workspace, conversation)
        if entry is not None and not self._tools_of(entry):
            await self.servers.connection(entry).connect()

    def start(self, workspace: str) -> None:
        self.servers.start(workspace)

    def _entry(self, name: str, workspace: str, conversation: str) -> ServerEntry | None:
        """One that serves the conversation, else one that an editor lent to another: the executor says so."""
        server, separator, _ = name.partition(_SEPARATOR)
        if not separator:
            return None
        configured = self.servers.configuration.load(workspace)
        return configured.serving(conversation).get(server) or next(configured.lent_as(server), None)

    def _tools_of(self, entry: ServerEntry) -> dict[str, ServerTool]:
        listing, accepted = self.servers.listing(entry)
        if listing is None:
            return {}
        known = self._tools.get(entry.identity)
        if known is None or known[0] is not entry or known[1] is not listing or known[2] != accepted:
            sandboxed = self.servers.sandboxed
            made = {
                name: ServerTool(name, listed, entry, accepted=accepted, sandboxed=sandboxed)
                for name, listed in listing.names.items()
            }
            known = self._tools[entry.identity] = (entry, listing, accepted, made)
        return known[3]

    # -- as a backend ------------------------------------------------------------------------------------------------

    def offers(self, tool: str, workspace: str) -> bool:
        """What `find` has found."""
        server = tool.partition(_SEPARATOR)[0]
        return any(key[0] == workspace and key[1] == server and tool in made[3] for key, made in self._tools.items())

    def remembers(self, call_id: str) -> bool:
        return False

    async def review(self, tool: AnyTool, workspace: str, *, binding: bool = False) -> CallReview:
        """Compare the tool set with the one that you accepted. Raises `ServerFailed`."""
        assert isinstance(tool, ServerTool)
        entry = tool.entry
        if binding and entry not in self.servers.configuration.load(workspace).every:
            raise _changed(entry, "Its entry in mcp.json changed")
        listing = await self._current(tool)
        bound = subject(entry, listing) if binding else ""
        state = self.servers.pins.state(entry, listing)
        if state == "pinned":
            return CallReview(listing, subject=bound)
        diff = self.servers.pins.diff(entry, listing)
        if state == "new":
            why = f"you have not accepted the tools of the MCP server {entry.name} yet"
        else:
            why = f"the tools of the MCP server {entry.name} are not those that you accepted"
        return CallReview(listing, why, diff, must_ask=state == "changed", subject=bound)

    async def run(self, tool: AnyTool, args: JsonObject, call: Call, output: Output) -> ToolResult:
        assert isinstance(tool, ServerTool)
        assert call.reviewed is not None
        entry, listing, seen = tool.entry, await self._current(tool), call.reviewed.basis
        if listing is not seen and not (isinstance(seen, Listing) and listing.digest == seen.digest):
            raise _changed(entry, "Its tools changed")
        if self.servers.pins.state(entry, listing) != "pinned":
            self.servers.pins.accept(entry, listing)
        listed = listing.names[tool.spec.name]

        async def progress(done: float, total: float | None, message: str | None) -> None:
            part = f"{done:g}/{total:g}" if total else f"{done:g}"
            output("progress", f"{part} {clean(message or '')[:500]}".strip() + "\n")

        questions = Elicitation(entry.name, call.id, call.choose)
        connection = self.servers.connection(entry)
        result = await connection.call(listed.name, args, entry.timeout, progress, questions.answer)
        return _to_result(entry.name, result, confined=entry.transport == "stdio" and self.servers.sandboxed)

    async def _current(self, tool: ServerTool) -> Listing:
        connection = self.servers.connection(tool.entry)
        listing = connection.known_listing or await connection.current_listing()
        if tool.spec.name not in listing.names:
            raise ServerFailed(
                f"The MCP server {tool.entry.name} no longer has {tool.spec.name}.", advice="Go on without it."
            )
        return listing

    async def close(self) -> None:
        await self.servers.close()


def _changed(entry: ServerEntry, what: str) -> ToolError:
    message = f"{what} while the call to the MCP server {entry.name} was decided; nothing was sent."
    return ToolError(message, advice="Call it again.", code="mcp_changed")


def _to_result(server: str, result: Any, *, confined: bool) -> ToolResult:
    """Bounded text for the model, images as attachments, and nothing that a terminal obeys."""
    parts, images = _parts(result.content[:_MAX_PARTS])
    structured = result.structured_content
    if structured is not None and not any(part.strip() for part in parts):
        parts.append(json.dumps(structured, indent=1, ensure_ascii=False)[:_MAX_TEXT])
    text = clip(clean("\n".join(parts)))
    if confined and (hint := sandbox_hint(server, text)):
        text += f"\n{hint}"
    details: dict[str, JsonValue] = {"server": server}
    if structured is not None and len(json.dumps(structured)) <= 20_000:
        details["structured"] = structured
    if images:
        details["attachments"] = images
    summary = text[:2_000].strip().partition("\n")[0][:200] or "no text"
    if result.is_error:
        return ToolResult(
            text or "It failed without a reason.",
            details,
            summary,
            ErrorBody(code="mcp_tool_error", message=clip(text, 2_000)),
        )
    return ToolResult(text or "(no content)", details, summary)


def _parts(content: list[Any]) -> tuple[list[str], list[JsonValue]]:
    parts: list[str] = []
    images: list[JsonValue] = []
    for block in content:
        match block.type:
            case "text":
                parts.append(block.text[:_MAX_TEXT])
            case "image" if block.mime_type in _IMAGES and len(block.data) <= _MAX_IMAGE and len(images) < _MAX_IMAGES:
                images.append({"name": f"image {len(images) + 1}", "mediaType": block.mime_type, "data": block.data})
            case "resource_link":
                parts.append(f"[resource {block.uri}: {block.name}]"[:2_000])
            case "resource":
                parts.append(_resource(block.resource))
            case kind:
                parts.append(f"[{kind} left out]")
    return parts, images


def _resource(resource: Any) -> str:
    text = getattr(resource, "text", None)
    head = f"[{resource.uri}]"[:2_000]
    return f"{head}\n{text[:_MAX_TEXT]}" if isinstance(text, str) else f"{head} (binary, left out)"
