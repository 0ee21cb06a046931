"""Routes for the MCP servers whose tools agents use."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.requests import answer, read
from sidecar.engine.errors import OperationRefused
from sidecar.wire.mcp import (
    McpAccept,
    McpAdd,
    McpLend,
    McpList,
    McpPrompt,
    McpPromptArgument,
    McpReferenceList,
    McpRemove,
    McpResource,
    McpServerInfo,
    McpServerRequest,
    McpTest,
    McpTool,
)
from tools.errors import ToolError
from tools.mcp.configuration import add_entry, remove_entry
from tools.mcp.entry import BadEntry, ServerEntry, server_name

if TYPE_CHECKING:
    from tools.mcp.references import McpReferences
    from tools.mcp.servers import McpServers, ServerStatus


class McpRoutes:
    def __init__(
        self, servers: "McpServers", references: "McpReferences", workspace: Callable[[str | None], str]
    ) -> None:
        self._servers = servers
        self._references = references
        self._workspace = workspace

    async def list(self, request: Request) -> Response:
        """Starts your own servers that nobody has seen yet, so that the next answer shows their tools."""
        workspace = self._workspace(request.query_params.get("workspace"))
        if request.query_params.get("start") != "false":
            self._servers.start(workspace, own=True)
        return self._listed(workspace)

    async def references(self, request: Request) -> Response:
        found = await self._references.all(self._workspace(request.query_params.get("workspace")))
        resources = [McpResource(mention=f"@{each.server}:{each.uri}", **each._asdict()) for each in found.resources]
        prompts = [
            McpPrompt(
                command=f"/{each.server}:{each.name}",
                server=each.server,
                name=each.name,
                description=each.description,
                arguments=[McpPromptArgument(**argument._asdict()) for argument in each.arguments],
            )
            for each in found.prompts
        ]
        return answer(McpReferenceList(resources=resources, prompts=prompts))

    async def test(self, request: Request) -> Response:
        wanted = await read(request, McpServerRequest)
        workspace = self._workspace(wanted.workspace)
        entry = self._entry(wanted.name, workspace)
        try:
            listing = await self._servers.connection(entry).current_listing(fresh=True)
        except ToolError as error:
            status = self._status(entry.name, workspace)
            return answer(McpTest(server=status.model_copy(update={"error": status.error or error.message}), tools=[]))
        tools = [
            McpTool(name=name, description=tool.description, read_only=tool.read_only)
            for name, tool in listing.names.items()
        ]
        return answer(McpTest(server=self._status(entry.name, workspace), tools=tools, digest=listing.digest))

    async def accept(self, request: Request) -> Response:
        wanted = await read(request, McpAccept)
        workspace = self._workspace(wanted.workspace)
        entry = self._entry(wanted.name, workspace)
        try:
            listing = await self._servers.connection(entry).current_listing()
        except ToolError as error:
            raise OperationRefused(409, "mcp_server_failed", error.message) from error
        if listing.digest != wanted.digest:
            message = "The tools changed since you saw them. Nothing was accepted; look at them again."
            raise OperationRefused(409, "mcp_changed", message)
        self._servers.pins.accept(entry, listing)
        return self._listed(workspace)

    async def add(self, request: Request) -> Response:
        wanted = await read(request, McpAdd)
        try:
            add_entry(self._servers.configuration.file, wanted.name, wanted.entry)
        except BadEntry as error:
            raise OperationRefused(422, "invalid_entry", f"{wanted.name}: {error}. Nothing was written.") from error
        return self._listed(self._workspace(None))

    async def lend(self, request: Request) -> Response:
        wanted = await read(request, McpLend)
        workspace = self._workspace(wanted.workspace)
        self._servers.lend(wanted.session, workspace, wanted.servers)
        return self._listed(workspace)

    async def remove(self, request: Request) -> Response:
        wanted = await read(request, McpRemove)
        workspace = self._workspace(None)
        entry = self._servers.configuration.load(workspace).servers.get(server_name(wanted.name))
        try:
            removed = remove_entry(self._servers.configuration.file, wanted.name)
        except BadEntry as error:
            raise OperationRefused(422, "invalid_file", f"mcp.json was not changed: {error}.") from error
        if not removed:
            raise OperationRefused(404, "unknown_server", f"Your mcp.json has no server {wanted.name[:100]}.")
        if entry is not None:
            self._servers.pins.remove(entry)
            await self._servers.forget(entry.name, workspace)
        return self._listed(workspace)

    def _listed(self, workspace: str) -> Response:
        found = [_info(status) for status in self._servers.statuses(workspace)]
        return answer(McpList(servers=found, file=str(self._servers.configuration.file)))

    def _entry(self, name: str, workspace: str) -> ServerEntry:
        configured = self._servers.configuration.load(workspace)
        entry = next((each for each in configured.every if each.name == server_name(name)), None)
        if entry is None:
            problem = configured.problems.get(server_name(name))
            known = ", ".join(each.name for each in configured.every) or "none"
            message = problem or f"No MCP server is called {name[:100]}. Known here: {known}."
            raise OperationRefused(404, "unknown_server", message)
        return entry

    def _status(self, name: str, workspace: str) -> McpServerInfo:
        return next(_info(status) for status in self._servers.statuses(workspace) if status.name == name)


def _info(status: "ServerStatus") -> McpServerInfo:
    return McpServerInfo(
        name=status.name,
        state=status.state,
        tools=[*status.tools],
        pinned=status.pinned,
        error=status.error or None,
        own=status.own,
        where=status.where,
        left_out=[*status.left_out],
        diff=status.diff or None,
    )
