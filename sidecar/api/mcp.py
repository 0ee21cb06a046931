"""Routes for the MCP servers whose tools agents use."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.requests import Request

from sidecar.api.route import WORKSPACE, Parameter, route
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
    from tools.mcp.servers import McpServers


class McpRoutes:
    def __init__(
        self, servers: "McpServers", references: "McpReferences", workspace: Callable[[str | None], str]
    ) -> None:
        self._servers = servers
        self._references = references
        self._workspace = workspace

    @route(
        "GET /api/brain/mcp",
        "mcp_servers",
        query=(
            Parameter("workspace", "Also the servers of this workspace, if you trust it."),
            Parameter("start", "`false` starts nothing."),
        ),
    )
    async def list(self, request: Request) -> McpList:
        """List the MCP servers whose tools agents use. They come from `mcp.json` in your configuration directory, and
        from `.mcp.json` and `.vscode/mcp.json` of a trusted workspace. Starts your own whose tools are still unknown;
        those of a workspace start when you test them or a task begins there."""
        workspace = self._workspace(request.query_params.get("workspace"))
        if request.query_params.get("start") != "false":
            # The next answer shows the tools of those that were still unknown.
            self._servers.start(workspace, own=True)
        return self._list(workspace)

    @route("GET /api/brain/mcp/references", "mcp_references", query=(WORKSPACE,))
    async def references(self, request: Request) -> McpReferenceList:
        """List the resources and prompts of MCP servers that a task can name. Only of servers whose tools you accepted.
        A server that doesn't answer within 3 s is left out."""
        found = await self._references.all(self._workspace(request.query_params.get("workspace")))
        resources = [McpResource.from_object(each, mention=f"@{each.server}:{each.uri}") for each in found.resources]
        prompts = [
            McpPrompt.from_object(
                each,
                command=f"/{each.server}:{each.name}",
                arguments=[McpPromptArgument.from_object(argument) for argument in each.arguments],
            )
            for each in found.prompts
        ]
        return McpReferenceList(resources=resources, prompts=prompts)

    @route("POST /api/brain/mcp/test", "test_mcp_server", refusals=(404,))
    async def test(self, request: Request, wanted: McpServerRequest) -> McpTest:
        """Start an MCP server and list its tools."""
        workspace = self._workspace(wanted.workspace)
        entry = self._entry(wanted.name, workspace)
        try:
            listing = await self._servers.connection(entry).current_listing(fresh=True)
        except ToolError as error:
            status = self._status(entry.name, workspace)
            return McpTest(server=status.model_copy(update={"error": status.error or error.message}), tools=[])
        tools = [McpTool.from_object(tool, name=name) for name, tool in listing.names.items()]
        return McpTest(server=self._status(entry.name, workspace), tools=tools, digest=listing.digest)

    @route("POST /api/brain/mcp/accept", "accept_mcp_server", refusals=(404, 409))
    async def accept(self, request: Request, wanted: McpAccept) -> McpList:
        """Accept the tools of an MCP server as they are now. Names, descriptions and schemas are pinned. When one
        changes, the server is blocked until you accept the difference."""
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
        return self._list(workspace)

    @route("POST /api/brain/mcp", "add_mcp_server")
    async def add(self, request: Request, wanted: McpAdd) -> McpList:
        """Add an MCP server to your own configuration."""
        try:
            add_entry(self._servers.configuration.file, wanted.name, wanted.entry)
        except BadEntry as error:
            raise OperationRefused(422, "invalid_entry", f"{wanted.name}: {error}. Nothing was written.") from error
        return self._list(self._workspace(None))

    @route("POST /api/brain/mcp/session", "lend_mcp_servers", refusals=(404,))
    async def lend(self, request: Request, wanted: McpLend) -> McpList:
        """Lend an editor's MCP servers to the tasks of a session while it is open. They are kept in memory only;
        sandbox, approvals and pins hold for them as for any server."""
        workspace = self._workspace(wanted.workspace)
        self._servers.lend(wanted.session, workspace, wanted.servers)
        return self._list(workspace)

    @route("POST /api/brain/mcp/remove", "remove_mcp_server", refusals=(404,))
    async def remove(self, request: Request, wanted: McpRemove) -> McpList:
        """Remove an MCP server from your own configuration."""
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
        return self._list(workspace)

    def _list(self, workspace: str) -> McpList:
        found = [McpServerInfo.from_object(status) for status in self._servers.statuses(workspace)]
        return McpList(servers=found, file=str(self._servers.configuration.file))

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
        return next(
            McpServerInfo.from_object(status) for status in self._servers.statuses(workspace) if status.name == name
        )
