"""Routes of tools and of what they may do: policy, trust, approvals, grants, MCP servers."""

from collections.abc import Sequence

from sidecar.api.grants import GrantRoutes
from sidecar.api.mcp import McpRoutes
from sidecar.api.system import SystemRoutes
from sidecar.api.table.route import Parameter, Route
from sidecar.api.tools import ToolRoutes, TrustRoutes
from sidecar.wire import mcp, system, tasks, tools

TOOLS: Sequence[Route] = (
    Route("GET /api/brain/tools", "tools", ToolRoutes.list, "List the tools", tools.ToolList),
    Route(
        "POST /api/brain/tools/batch",
        "tools_batch",
        ToolRoutes.batch,
        "Run tools without a model",
        tools.BatchAnswer,
        tools.BatchRequest,
    ),
    Route(
        "POST /api/brain/route",
        "route",
        SystemRoutes.route,
        "Explain how a task would be routed",
        tasks.RouteAnswer,
        tasks.RouteRequest,
        doc="Runs nothing.",
    ),
    Route(
        "POST /api/brain/policy/explain",
        "policy_explain",
        ToolRoutes.explain,
        "Explain whether a call would be allowed",
        system.PolicyAnswer,
        system.PolicyRequest,
        doc="Runs nothing.",
    ),
    Route("GET /api/brain/trust", "trust", TrustRoutes.list, "List trusted workspaces", system.TrustAnswer),
    Route(
        "POST /api/brain/trust",
        "set_trust",
        TrustRoutes.set,
        "Trust a workspace, or revoke its trust",
        system.TrustAnswer,
        system.TrustRequest,
        doc="The decision is stored outside of the workspace.",
    ),
    Route(
        "GET /api/brain/approvals",
        "approvals",
        TrustRoutes.approvals,
        "List approvals that hold for workspaces and running tasks",
        system.ApprovalList,
        doc="Each is bound to the exact arguments, directory, environment and programs you approved.",
    ),
    Route(
        "POST /api/brain/approvals/revoke",
        "revoke_approval",
        TrustRoutes.revoke,
        "Revoke an approval",
        system.ApprovalList,
        system.RevokeRequest,
        refusals=(404,),
        doc="Takes effect at once, for running tasks too.",
    ),
    Route(
        "GET /api/brain/grants",
        "grants",
        GrantRoutes.list,
        "List the standing permissions of repositories",
        system.GrantList,
        doc="They also cover the worktrees and clones that the sidecar makes of a repository.",
    ),
    Route(
        "POST /api/brain/grants",
        "grant",
        GrantRoutes.add,
        "Grant a repository a standing permission",
        system.GrantInfo,
        system.GrantRequest,
        doc="`command`: run exactly this command line. `host`, `read`: its commands may reach this host, read this "
        "path. `install`: install packages from the registry. `checks`: run its tests and builds. `spend`: at most "
        "so many dollars for each unattended task.",
    ),
    Route(
        "POST /api/brain/grants/revoke",
        "revoke_grant",
        GrantRoutes.revoke,
        "Revoke a standing permission",
        system.GrantList,
        system.RevokeGrantRequest,
        refusals=(404,),
        doc="Takes effect at once, for running tasks too.",
    ),
    Route(
        "GET /api/brain/mcp",
        "mcp_servers",
        McpRoutes.list,
        "List the MCP servers whose tools agents use",
        mcp.McpList,
        query=(
            Parameter("workspace", "Also the servers of this workspace, if you trust it."),
            Parameter("start", "`false` starts nothing."),
        ),
        doc="They come from `mcp.json` in your configuration directory, and from `.mcp.json` and `.vscode/mcp.json` of "
        "a trusted workspace. Starts your own whose tools nobody has seen yet; those of a workspace start when you "
        "test them or a task begins there.",
    ),
    Route(
        "POST /api/brain/mcp",
        "add_mcp_server",
        McpRoutes.add,
        "Add an MCP server to your own configuration",
        mcp.McpList,
        mcp.McpAdd,
    ),
    Route(
        "GET /api/brain/mcp/references",
        "mcp_references",
        McpRoutes.references,
        "List the resources and prompts of MCP servers that a task can name",
        mcp.McpReferenceList,
        query=(Parameter("workspace", "The workspace's directory; default: the sidecar's own."),),
        doc="Only of servers whose tools you accepted. A server that doesn't answer within 3 s is left out.",
    ),
    Route(
        "POST /api/brain/mcp/test",
        "test_mcp_server",
        McpRoutes.test,
        "Start an MCP server and list its tools",
        mcp.McpTest,
        mcp.McpServerRequest,
        refusals=(404,),
    ),
    Route(
        "POST /api/brain/mcp/accept",
        "accept_mcp_server",
        McpRoutes.accept,
        "Accept the tools of an MCP server as they are now",
        mcp.McpList,
        mcp.McpAccept,
        refusals=(404, 409),
        doc="Names, descriptions and schemas are pinned. When one changes, the server is blocked until you accept "
        "the difference.",
    ),
    Route(
        "POST /api/brain/mcp/session",
        "lend_mcp_servers",
        McpRoutes.lend,
        "Lend an editor's MCP servers to the tasks of a session while it is open",
        mcp.McpList,
        mcp.McpLend,
        refusals=(404,),
        doc="They are kept in memory only; sandbox, approvals and pins hold for them as for any server.",
    ),
    Route(
        "POST /api/brain/mcp/remove",
        "remove_mcp_server",
        McpRoutes.remove,
        "Remove an MCP server from your own configuration",
        mcp.McpList,
        mcp.McpRemove,
        refusals=(404,),
    ),
)
