"""The route table: the application serves it, and OpenAPI, REFERENCE.md and the docs test come from it."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.responses import Response

from sidecar.api.fleet import FleetRoutes
from sidecar.api.grants import GrantRoutes
from sidecar.api.mcp import McpRoutes
from sidecar.api.memory import MemoryRoutes
from sidecar.api.metrics import MetricsRoutes
from sidecar.api.models import KeyRoutes, ModelRoutes
from sidecar.api.projects import ProjectRoutes
from sidecar.api.schedules import ScheduleRoutes
from sidecar.api.session import SessionRoutes
from sidecar.api.system import DoctorRoutes, SystemRoutes
from sidecar.api.tasks import ReviewRoutes, TaskRoutes, WorktreeRoutes
from sidecar.api.tools import ToolRoutes, TrustRoutes
from sidecar.wire import fleet, mcp, memory, models, projects, schedules, stats, system, tasks, tools, worktrees
from sidecar.wire.base import Wire
from sidecar.wire.events import EventPage


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    doc: str
    kind: str = "string"


@dataclass(frozen=True, slots=True)
class Route:
    """`answer` is a wire type, or the media type of another format; `doc` adds to the summary."""

    #: Method and path.
    endpoint: str
    name: str
    handler: Callable[..., Awaitable[Response]]
    summary: str
    answer: type[Wire] | str
    body: type[Wire] | None = None
    query: Sequence[Parameter] = ()
    headers: Sequence[Parameter] = ()
    refusals: Sequence[int] = ()
    doc: str = ""

    @property
    def method(self) -> str:
        return self.endpoint.partition(" ")[0]

    @property
    def path(self) -> str:
        return self.endpoint.partition(" ")[2]

    @property
    def status(self) -> int:
        return 202 if self.answer is tasks.Accepted else 200


def bind(routes: Sequence[Route], owners: Iterable[object]) -> Iterator[tuple[str, str, str, Callable[[Any], Any]]]:
    """Name, method, path and bound handler of each route; `owners` are the objects whose methods handle them."""
    by_class = {type(owner).__name__: owner for owner in owners}
    for route in routes:
        owner = by_class[route.handler.__qualname__.partition(".")[0]]
        yield route.name, route.method, route.path, partial(route.handler, owner)


_TASK = "/api/brain/tasks/{task_id}"
_AFTER = Parameter("after", "Only events after this sequence number.", "integer")
_IDEMPOTENCY = Parameter("Idempotency-Key", "Requests with the same key start one task.")

TABLE: Sequence[Route] = (
    Route(
        "GET /health",
        "health",
        SystemRoutes.health,
        "Whether the sidecar is up",
        system.Health,
        doc="Needs no token and says nothing else.",
    ),
    Route(
        "GET /ready",
        "ready",
        SystemRoutes.ready,
        "Whether the sidecar can take tasks: the journal can be written and its disk has room",
        system.Health,
        refusals=(503,),
        doc="Needs no token. 503 says what is wrong.",
    ),
    Route("GET /openapi.json", "openapi", SystemRoutes.openapi, "This API as OpenAPI 3.1", "application/json"),
    Route(
        "GET /metrics",
        "metrics",
        MetricsRoutes.metrics,
        "Metrics in Prometheus text format",
        "text/plain",
        doc="Counters come from the journal and survive a restart.",
    ),
    Route(
        "GET /api/brain/stats",
        "stats",
        MetricsRoutes.stats,
        "Get tokens and estimated cost by day, model and agent",
        stats.StatsAnswer,
        query=(Parameter("days", "How many days with usage, the newest; default 30.", "integer"),),
        refusals=(422,),
    ),
    Route(
        "POST /api/brain/execute",
        "execute",
        TaskRoutes.execute,
        "Start a task",
        tasks.Accepted,
        tasks.ExecuteRequest,
        headers=(_IDEMPOTENCY,),
        refusals=(429, 503),
    ),
    Route(
        "GET /api/brain/tasks",
        "tasks",
        TaskRoutes.list,
        "List tasks, newest first",
        tasks.TaskPage,
        query=(
            Parameter("status", "Only tasks with one of these statuses, separated by commas."),
            Parameter("conversation", "Only tasks of this conversation."),
            Parameter("q", "Only tasks with all of these words in what was asked, answered or changed."),
            Parameter("workspace", "Only tasks of this workspace; repeat it for several."),
            Parameter("pinned", "`true`: only pinned tasks."),
            Parameter("archived", "`true`: archived tasks too, as in the list of one conversation."),
            Parameter("limit", "Page size; default 50, at most 200.", "integer"),
            Parameter("before", "Only tasks older than the task with this id."),
        ),
        refusals=(404,),
    ),
    Route(
        f"GET {_TASK}",
        "task",
        TaskRoutes.show,
        "Get a task: status, progress, result, error, usage",
        tasks.Task,
        refusals=(404,),
    ),
    Route(
        f"PATCH {_TASK}",
        "label",
        TaskRoutes.label,
        "Rename, pin or archive a task",
        tasks.Task,
        tasks.LabelRequest,
        refusals=(404,),
    ),
    Route(
        f"DELETE {_TASK}",
        "delete_task",
        TaskRoutes.delete,
        "Delete a task that has ended",
        tasks.DeletedTask,
        refusals=(404, 409),
        doc="Removes its history and the contents for its undo. Files in the workspace stay as they are.",
    ),
    Route(
        f"GET {_TASK}/stream",
        "stream",
        TaskRoutes.stream,
        "Stream a task's events as server-sent events",
        "text/event-stream",
        query=(_AFTER,),
        headers=(Parameter("Last-Event-ID", "Resume after this event."),),
        refusals=(404, 503),
        doc="Starts at any event, continues live, and closes when the task ends.",
    ),
    Route(
        f"GET {_TASK}/events",
        "events",
        TaskRoutes.events,
        "List a task's events by page",
        EventPage,
        query=(_AFTER, Parameter("limit", "Page size; default 500, at most 2000.", "integer")),
        refusals=(404,),
    ),
    Route(
        "GET /api/brain/events",
        "allEvents",
        TaskRoutes.stream_all,
        "Stream the durable events of all tasks as server-sent events",
        "text/event-stream",
        query=(Parameter("after", "Only events after this cursor; `now` for new events only."),),
        headers=(Parameter("Last-Event-ID", "Resume after this cursor."),),
        refusals=(410, 503),
        doc="An event's id is its cursor, which orders the events of all tasks. 410: resume is impossible because "
        "events after the cursor were pruned; list the tasks, then follow from `now`.",
    ),
    Route(
        f"POST {_TASK}/cancel",
        "cancel",
        TaskRoutes.cancel,
        "Cancel a task",
        tasks.Accepted,
        refusals=(404, 409),
        doc="Returns at once; the task becomes `cancelled` when every process it started is dead.",
    ),
    Route(
        f"POST {_TASK}/resume",
        "resume",
        TaskRoutes.resume,
        "Resume a task from its last checkpoint",
        tasks.Accepted,
        refusals=(404, 409),
    ),
    Route(
        f"POST {_TASK}/messages",
        "message",
        TaskRoutes.message,
        "Steer a running task, or continue one that ended",
        tasks.Accepted,
        tasks.MessageRequest,
        headers=[Parameter("Idempotency-Key", "Requests with the same key send one message.")],
        refusals=(404, 409),
    ),
    Route(
        f"POST {_TASK}/approvals/{{approval_id}}",
        "approve",
        TaskRoutes.approve,
        "Allow or deny one call",
        tasks.ApprovalAnswer,
        tasks.ApprovalRequest,
        refusals=(404, 409),
        doc="A second answer to the same approval is refused with 409.",
    ),
    Route(
        f"POST {_TASK}/questions/{{question_id}}",
        "answer_question",
        TaskRoutes.answer_question,
        "Answer a question of a task",
        tasks.QuestionAnswer,
        tasks.QuestionRequest,
        refusals=(404, 409),
        doc="If the question offers choices, the answer is one of them. A second answer is refused with 409.",
    ),
    Route(
        f"GET {_TASK}/diff",
        "diff",
        ReviewRoutes.diff,
        "Get a task's changes by file and hunk",
        tasks.DiffAnswer,
        refusals=(404, 409),
    ),
    Route(
        f"POST {_TASK}/hunks",
        "hunks",
        ReviewRoutes.hunks,
        "Accept or reject hunks of a task's changes",
        tasks.DiffAnswer,
        tasks.HunkRequest,
        refusals=(404, 409),
        doc="A rejected hunk is undone in its file, and the agents learn about it. Your own later edits are "
        "merged; where you edited the same lines, the file stays as it is and is listed under `conflicts`.",
    ),
    Route(
        f"POST {_TASK}/rewind",
        "rewind",
        ReviewRoutes.rewind,
        "Rewind files and conversation to an event",
        tasks.RewindAnswer,
        tasks.RewindRequest,
        refusals=(404, 409),
        doc="The task can be resumed from there, and a rewind can itself be rewound. With `conversation: false` "
        "only the files go back; with `preview` nothing changes.",
    ),
    Route(
        f"POST {_TASK}/merge",
        "merge",
        WorktreeRoutes.merge,
        "Merge the worktree of an isolated task into its workspace",
        worktrees.MergeAnswer,
        worktrees.MergeRequest,
        refusals=(404, 409),
        doc="Three-way by lines: your own changes since the task started stay. With conflicts nothing changes, and "
        "they are listed; `markers` writes them into the files as Git does. It changes files only, never the index or "
        "a branch. After a merge the worktree is removed, and a rewind of the task acts on your workspace.",
    ),
    Route(
        "GET /api/brain/worktrees",
        "worktrees",
        WorktreeRoutes.list,
        "List the worktrees of isolated tasks",
        worktrees.WorktreeList,
    ),
    Route(
        "POST /api/brain/worktrees/clean",
        "clean_worktrees",
        WorktreeRoutes.clean,
        "Remove worktrees that nobody needs",
        worktrees.CleanAnswer,
        worktrees.CleanRequest,
        doc="Keeps those whose task is at work, and those with changes that are not merged, unless you name the task "
        "and set `discard`.",
    ),
    Route(
        f"POST {_TASK}/fork",
        "fork",
        TaskRoutes.fork,
        "Start a new task from an event of another task",
        tasks.Accepted,
        tasks.ForkRequest,
        headers=(_IDEMPOTENCY,),
        refusals=(404, 409, 429, 503),
        doc="The new task starts with the conversation and the files as they were at that event (default: the "
        "last one). The other task must not be running; `forkedFrom` names it.",
    ),
    Route(
        f"POST {_TASK}/approvals",
        "approve_several",
        TaskRoutes.approve_several,
        "Answer several approvals",
        tasks.ApprovalsAnswer,
        tasks.ApprovalsRequest,
        refusals=(404, 409),
        doc="Applies the answers in order and stops at the first one that is refused.",
    ),
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
        query=(Parameter("workspace", "Also the servers of this workspace, if you trust it."),),
        doc="Starts servers whose tools nobody has seen yet. They come from `mcp.json` in your configuration "
        "directory, and from `.mcp.json` and `.vscode/mcp.json` of a trusted workspace.",
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
        "Use an editor's MCP servers in a workspace while its session is open",
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
    Route(
        "GET /api/brain/templates",
        "templates",
        ProjectRoutes.templates,
        "List the templates of new projects",
        projects.TemplateList,
        doc="Your own are the folders of `templates/` in the configuration directory; their files end in `.template`.",
    ),
    Route(
        "POST /api/brain/projects",
        "create_project",
        ProjectRoutes.create,
        "Create a project from a template",
        tasks.Accepted,
        projects.ProjectOrder,
        headers=(_IDEMPOTENCY,),
        refusals=(409, 429, 503),
        doc="A task like any other; the result has `projectPath` and `success`.",
    ),
    Route("GET /api/brain/agents", "agents", SystemRoutes.agents, "List the agents", system.AgentList),
    Route("GET /api/brain/models", "models", ModelRoutes.list, "List models and model roles", system.ModelList),
    Route(
        "GET /api/brain/models/local",
        "local_models",
        ModelRoutes.local,
        "Find model servers on this machine",
        models.LocalServerList,
        doc="Tries the usual ports of Ollama, LM Studio, llama.cpp and vLLM; takes a few seconds at most.",
    ),
    Route(
        "POST /api/brain/models/test",
        "test_model",
        ModelRoutes.test,
        "Test a model with one small request",
        models.ModelTest,
        models.ModelTestRequest,
    ),
    Route(
        "PUT /api/brain/models/use",
        "use_model",
        ModelRoutes.use,
        "Choose the model of a role, in your own configuration",
        models.UseAnswer,
        models.UseRequest,
        refusals=(409,),
        doc="Tests the model first. The next task uses it; `back` lists the commands that undo the choice.",
    ),
    Route("GET /api/brain/keys", "keys", KeyRoutes.list, "List which providers have a key", system.KeyList),
    Route(
        "PUT /api/brain/keys",
        "set_key",
        KeyRoutes.set,
        "Store or remove a provider's key",
        system.KeyList,
        system.KeyRequest,
        refusals=(404, 503),
        doc="Keys go to the system's keyring, or to a private file. The next task uses them; no route returns them.",
    ),
    Route(
        "GET /api/brain/doctor",
        "doctor",
        DoctorRoutes.examine,
        "Check the setup, with a fix for each problem",
        system.Examination,
    ),
    Route(
        "POST /api/brain/memory/search",
        "memory_search",
        MemoryRoutes.search,
        "Find code by what it does",
        memory.MemorySearchAnswer,
        memory.MemorySearchRequest,
        refusals=(422,),
        doc="The first search in a workspace builds its index. Hits show files as they are now.",
    ),
    Route(
        "POST /api/brain/memory/impact",
        "memory_impact",
        MemoryRoutes.impact,
        "List what depends on a file or a symbol, nearest first",
        memory.ImpactAnswer,
        memory.ImpactRequest,
        refusals=(422,),
    ),
    Route(
        "GET /api/brain/memory",
        "memory",
        MemoryRoutes.state,
        "Get the state of a workspace's index",
        memory.MemoryStateAnswer,
        query=(Parameter("workspace", "The workspace's directory; default: the sidecar's own."),),
        refusals=(422,),
    ),
    Route(
        "POST /api/brain/memory/rebuild",
        "memory_rebuild",
        MemoryRoutes.rebuild,
        "Build a workspace's index anew, in the background",
        memory.MemoryStateAnswer,
        memory.MemoryWorkspace,
        refusals=(422,),
    ),
    Route(
        "POST /api/brain/memory/forget",
        "memory_forget",
        MemoryRoutes.forget,
        "Delete a workspace's index",
        memory.MemoryStateAnswer,
        memory.MemoryWorkspace,
        refusals=(422,),
    ),
    Route(
        "GET /api/brain/memory/notes",
        "memory_notes",
        MemoryRoutes.list_notes,
        "List the decisions and patterns of a workspace, and what agents proposed",
        memory.NoteList,
        query=(Parameter("workspace", "The workspace's directory; default: the sidecar's own."),),
        refusals=(422,),
    ),
    Route(
        "POST /api/brain/memory/notes",
        "add_memory_note",
        MemoryRoutes.add_note,
        "Record a decision or a pattern",
        memory.NoteList,
        memory.NoteRequest,
        refusals=(409, 422),
    ),
    Route(
        "POST /api/brain/memory/notes/decide",
        "decide_memory_note",
        MemoryRoutes.decide_note,
        "Accept a note that an agent proposed, or remove a note",
        memory.MemoryDone,
        memory.NoteDecision,
        refusals=(404, 409),
    ),
    Route(
        "GET /api/brain/fleet",
        "fleet",
        FleetRoutes.state,
        "Get the fleet: leader, workers and queue",
        fleet.FleetState,
        doc="A sidecar on its own file is a fleet of one.",
    ),
    Route(
        "POST /api/brain/fleet/orders",
        "fleet_order",
        FleetRoutes.order,
        "Drain or stop a worker",
        fleet.FleetState,
        fleet.WorkerOrder,
        refusals=(404, 409),
        doc="The worker hears of it with its next heartbeat, within five seconds.",
    ),
    Route(
        "GET /api/brain/schedules",
        "schedules",
        ScheduleRoutes.state,
        "Get the schedules: when each runs next, and what it has used today",
        schedules.ScheduleList,
        doc="Reads the files of your configuration directory again.",
    ),
    Route("GET /api/brain/status", "status", SystemRoutes.status, "Get the sidecar's status", system.StatusAnswer),
    Route(
        "POST /api/brain/bridge/ticket",
        "bridge_ticket",
        SessionRoutes.create_ticket,
        "Create a one-time ticket for the bridge",
        system.Ticket,
        doc="For a webview, which can't send a header with a WebSocket.",
    ),
    Route(
        "POST /api/brain/session/code",
        "session_code",
        SessionRoutes.create_code,
        "Create a one-time code that opens the panel",
        system.SessionCode,
        doc="The code goes into the URL's fragment, which never reaches a log.",
    ),
    Route(
        "POST /api/brain/session",
        "session",
        SessionRoutes.trade,
        "Trade a one-time code for the token",
        system.SessionToken,
        system.SessionRequest,
        doc="Needs no token. `renewal` is for the panel's memory only: with it, it gets back in after a restart.",
    ),
    Route(
        "POST /api/brain/session/renewal",
        "session_renewal",
        SessionRoutes.create_renewal,
        "Create a renewal for a panel that was reloaded",
        system.Renewal,
    ),
    Route(
        "POST /api/brain/session/challenge",
        "session_challenge",
        SessionRoutes.challenge,
        "Let the sidecar prove that it knows a key",
        system.ChallengeAnswer,
        system.Challenge,
        refusals=(401,),
        doc=(
            "Needs no token; ask this before you send one to an address that another program may have taken. A proof "
            "is the HMAC-SHA-256, in base64url, of the lines `rainy-brain session 1`, `sidecar` (or `panel`), host and "
            "port, id, your nonce, the sidecar's nonce."
        ),
    ),
    Route(
        "POST /api/brain/session/proof",
        "session_proof",
        SessionRoutes.renew,
        "Prove that the panel knows its key, and get the token",
        system.SessionToken,
        system.Proof,
        refusals=(401,),
        doc="Needs no token. The nonce of each challenge works once.",
    ),
)
