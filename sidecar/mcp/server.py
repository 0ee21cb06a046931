"""Our tools and resources on the SDK's server, for whatever transport."""

import inspect
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from sidecar import __version__
from sidecar.client.errors import ClientError
from sidecar.client.service import BrainService
from sidecar.mcp.tools import BrainTools, Connect, diff_of, explain, transcript_of

INSTRUCTIONS = (
    "Rainy Brain carries out programming tasks in a project on this machine: it plans, edits, runs and verifies, and "
    "can take everything back. Hand a whole task to run_task, then wait_for_task. When a task is `waiting`, show the "
    "user what it asks and pass their decision to approve."
)
_READS = frozenset({"task_status", "wait_for_task", "find_code", "impact", "review_changes"})
_DESTROYS = frozenset({"run_task", "approve", "undo", "message_task"})
TOOLS = (
    BrainTools.run_task,
    BrainTools.task_status,
    BrainTools.wait_for_task,
    BrainTools.cancel_task,
    BrainTools.message_task,
    BrainTools.approve,
    BrainTools.find_code,
    BrainTools.impact,
    BrainTools.review_changes,
    BrainTools.undo,
)


def build_server(connect: Connect, workspace: str = "") -> Any:
    """An `MCPServer`. Takes a second to import, so only when somebody connects."""
    from mcp.server.mcpserver import MCPServer

    from sidecar.mcp.tasks import TasksExtension

    server = MCPServer(
        "rainy-brain",
        title="Rainy Brain",
        version=__version__,
        instructions=INSTRUCTIONS,
        log_level="WARNING",
        extensions=[TasksExtension(connect, workspace)],
    )
    for tool in TOOLS:
        _add_tool(server, tool, connect, workspace)
    _add_resource(server, "diff", "What a task changed, as unified diffs", "text/x-diff", diff_of, connect)
    _add_resource(
        server, "transcript", "The events of a task, as JSON lines", "application/jsonl", transcript_of, connect
    )
    return server


def _add_tool(server: Any, method: Callable[..., Awaitable[Any]], connect: Connect, workspace: str) -> None:
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import ToolAnnotations

    async def call(ctx: Any, **arguments: Any) -> Any:
        async def report(done: float, total: float | None, message: str) -> None:
            await ctx.report_progress(done, total, message)

        try:
            service = await connect(ctx.headers)
            return await method(BrainTools(service, workspace, report), **arguments)
        except ClientError as error:
            raise ToolError(explain(error)) from error

    signature = inspect.signature(method, eval_str=True)
    own = [each for name, each in signature.parameters.items() if name != "self"]
    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Context)
    made: Any = wraps(method)(call)
    made.__signature__ = signature.replace(parameters=[context, *own])
    made.__annotations__ = {**{each.name: each.annotation for each in own}, "ctx": Context, "return": str}
    name = method.__name__
    hints = ToolAnnotations(
        read_only_hint=name in _READS, destructive_hint=name in _DESTROYS, idempotent_hint=False, open_world_hint=False
    )
    server.add_tool(made, name=name, description=inspect.getdoc(method), annotations=hints, structured_output=False)


def _add_resource(
    server: Any,
    name: str,
    about: str,
    mime_type: str,
    read: Callable[[BrainService, str], Awaitable[str]],
    connect: Connect,
) -> None:
    from mcp.server.mcpserver import Context

    async def resource(task_id: str, ctx: Any) -> str:
        return await read(await connect(ctx.headers), task_id)

    resource.__annotations__ = {"task_id": str, "ctx": Context, "return": str}
    server.resource(f"brain://tasks/{{task_id}}/{name}", name=f"task-{name}", description=about, mime_type=mime_type)(
        resource
    )
