"""Resources and prompts of servers, which you name in a task: `@server:resource` and `/server:prompt words`.

Agents can't ask for them. What a server says there is data, quoted with its source; it is read only from servers whose
tools you accepted.
"""

import asyncio
import shlex
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from tools.errors import ToolError
from tools.mcp.connection import ServerConnection
from tools.mcp.entry import ServerEntry
from tools.mcp.listing import clean
from tools.mcp.servers import McpServers
from tools.text import clip

#: Characters of one resource or prompt that a task gets.
MAX_TEXT = 20_000
_MAX_LISTED = 500
_MAX_PAGES = 20
_MAX_PARTS = 50
_MAX_ARGUMENTS = 20
_MAX_SHOWN = 300
_LISTED_SECONDS = 15.0
#: Servers that don't answer a list of all references within this time are left out of it.
_ALL_SECONDS = 3.0


class Resource(NamedTuple):
    server: str
    uri: str
    name: str
    description: str = ""
    #: `uri` has parts in braces that you fill in.
    template: bool = False


class PromptArgument(NamedTuple):
    name: str
    description: str
    required: bool


class ServerPrompt(NamedTuple):
    server: str
    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


class ServerReferences(NamedTuple):
    resources: tuple[Resource, ...] = ()
    prompts: tuple[ServerPrompt, ...] = ()


class McpReferences:
    """`conversation`: on whose behalf; an editor's servers serve only the conversations that it lent them to."""

    def __init__(self, servers: McpServers, conversation: str = "") -> None:
        self._servers = servers
        self._conversation = conversation
        self._listed: dict[tuple[str, str, str], tuple[ServerConnection, float, ServerReferences]] = {}

    def within(self, conversation: str) -> "McpReferences":
        """The same, on behalf of a conversation."""
        found = McpReferences(self._servers, conversation)
        found._listed = self._listed
        return found

    def names_server(self, name: str, workspace: str) -> bool:
        return self._entry(name, workspace) is not None

    def _entry(self, name: str, workspace: str) -> ServerEntry | None:
        return self._servers.entries(workspace, self._conversation).get(name)

    async def all(self, workspace: str) -> ServerReferences:
        """Of every server whose tools you accepted; those that are slow or fail are left out."""
        served = self._servers.entries(workspace, self._conversation).values()
        entries = [each for each in served if self._accepted(each)]
        if not entries:
            return ServerReferences()
        tasks = [asyncio.create_task(self._list(entry)) for entry in entries]
        done, slow = await asyncio.wait(tasks, timeout=_ALL_SECONDS)
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        found = [task.result() for task in tasks if task in done and task.exception() is None]
        return ServerReferences(
            tuple(each for one in found for each in one.resources), tuple(each for one in found for each in one.prompts)
        )

    async def read(self, server: str, name: str, workspace: str) -> str:
        """The text of a resource, by its name or address. Raises `ToolError`."""
        entry, listed = await self._known(server, workspace)
        uri = _find_uri(name, listed.resources)
        if uri is None:
            raise ToolError(f"{server} lists no resource {name[:100]}.", code="mcp_unknown_resource")
        result = await self._servers.connection(entry).ask(lambda client: client.read_resource(uri))
        return clip(clean("\n".join(_render(each) for each in result.contents[:_MAX_PARTS])), MAX_TEXT)

    async def prompt(self, server: str, name: str, words: str, workspace: str) -> str:
        """The text of a prompt with these arguments. Raises `ToolError`."""
        entry, listed = await self._known(server, workspace)
        found = next((each for each in listed.prompts if each.name == name), None)
        if found is None:
            known = ", ".join(each.name for each in listed.prompts[:20]) or "none"
            raise ToolError(f"{server} has no prompt {name[:100]}. It has: {known}.", code="mcp_unknown_prompt")
        given = fill_in(found, words)
        result = await self._servers.connection(entry).ask(lambda client: client.get_prompt(name, given))
        return clip(clean("\n\n".join(_message(each) for each in result.messages[:_MAX_PARTS])), MAX_TEXT)

    async def _known(self, server: str, workspace: str) -> tuple[ServerEntry, ServerReferences]:
        entry = self._entry(server, workspace)
        if entry is None:
            raise ToolError(f"No MCP server is called {server[:60]}.", code="mcp_unknown_server")
        current = await self._servers.connection(entry).current_listing()
        if self._servers.pins.state(entry, current) != "pinned":
            message = f"You have not accepted the tools of the MCP server {server} as they are now."
            raise ToolError(message, advice=f"See them: brain mcp test {server}", code="mcp_not_accepted")
        return entry, await self._list(entry)

    def _accepted(self, entry: ServerEntry) -> bool:
        return self._servers.pins.listing(entry) is not None

    async def _list(self, entry: ServerEntry) -> ServerReferences:
        connection, key = self._servers.connection(entry), entry.identity
        known = self._listed.get(key)
        if known is not None and known[0] is connection and time.monotonic() - known[1] < _LISTED_SECONDS:
            return known[2]
        found = await connection.ask(lambda client: _read(entry.name, client))
        if len(self._listed) >= _MAX_LISTED:
            self._listed.clear()
        self._listed[key] = (connection, time.monotonic(), found)
        return found


def fill_in(prompt: ServerPrompt, words: str) -> dict[str, str]:
    """Arguments by name (`topic=tea`) or in order; the last one takes all words that are left. Raises `ToolError`."""
    try:
        parts = shlex.split(words)
    except ValueError:
        parts = words.split()
    names = [each.name for each in prompt.arguments]
    given: dict[str, str] = {}
    rest: list[str] = []
    for part in parts:
        name, equals, value = part.partition("=")
        if equals and name in names and name not in given:
            given[name] = value
        else:
            rest.append(part)
    open_names = [name for name in names if name not in given]
    for place, name in enumerate(open_names):
        if rest:
            last = place == len(open_names) - 1
            given[name] = " ".join(rest) if last else rest.pop(0)
    missing = [each.name for each in prompt.arguments if each.required and each.name not in given]
    if missing:
        form = " ".join(f"{each.name}=…" if each.required else f"[{each.name}=…]" for each in prompt.arguments)
        message = f"/{prompt.server}:{prompt.name} needs {', '.join(missing)}."
        raise ToolError(message, advice=f"Write: /{prompt.server}:{prompt.name} {form}", code="mcp_missing_argument")
    return given


def _find_uri(name: str, listed: Sequence[Resource]) -> str | None:
    """Only what the server lists, and what lies below the fixed beginning of a template."""
    for each in listed:
        if not each.template and name in (each.uri, each.name):
            return each.uri
    if ".." in unquote(unquote(name)).replace("\\", "/").split("/"):
        return None
    for each in listed:
        fixed = each.uri.partition("{")[0]
        if each.template and "://" in fixed and len(name) > len(fixed) and name.startswith(fixed):
            return name
    return None


async def _read(server: str, client: Any) -> ServerReferences:
    resources: list[Resource] = []
    prompts: list[ServerPrompt] = []
    offered = client.server_capabilities
    if offered.resources is not None:
        for found in await _pages(client.list_resources, "resources"):
            resources += _resource(server, str(found.uri), found)
        for found in await _pages(client.list_resource_templates, "resource_templates"):
            resources += _resource(server, found.uri_template, found, template=True)
    if offered.prompts is not None:
        for found in await _pages(client.list_prompts, "prompts"):
            prompts += _prompt(server, found)
    return ServerReferences(tuple(resources), tuple(prompts))


async def _pages(read: Callable[..., Awaitable[Any]], name: str) -> list[Any]:
    """A server that announces a kind may still not list it."""
    from mcp import MCPError

    found: list[Any] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        try:
            page = await read(cursor=cursor)
        except MCPError:
            break
        found += getattr(page, name)
        cursor = page.next_cursor
        if cursor is None or len(found) >= _MAX_LISTED:
            break
    return found[:_MAX_LISTED]


def _resource(server: str, uri: str, found: Any, *, template: bool = False) -> list[Resource]:
    if clean(uri) != uri or not 0 < len(uri) <= 1_000:
        return []
    return [Resource(server, uri, _line(found.name), _line(found.description or found.title), template)]


def _prompt(server: str, found: Any) -> list[ServerPrompt]:
    if clean(found.name) != found.name or not 0 < len(found.name) <= 100 or " " in found.name:
        return []
    arguments = tuple(
        PromptArgument(_line(each.name), _line(each.description), each.required is True)
        for each in (found.arguments or [])[:_MAX_ARGUMENTS]
    )
    return [ServerPrompt(server, found.name, _line(found.description or found.title), arguments)]


def _line(text: str | None) -> str:
    return " ".join(clean(text or "").split())[:_MAX_SHOWN]


def _render(content: Any) -> str:
    text = getattr(content, "text", None)
    return text[: MAX_TEXT * 2] if isinstance(text, str) else f"({content.mime_type or 'binary'}, left out)"


def _message(message: Any) -> str:
    match message.content.type:
        case "text":
            return str(message.content.text[: MAX_TEXT * 2])
        case "resource":
            return _render(message.content.resource)
        case kind:
            return f"({kind}, left out)"
