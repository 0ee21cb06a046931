"""Every route, once: the application serves this table, and the OpenAPI document describes it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.doctor import DoctorRoutes
from sidecar.api.keys import KeyRoutes
from sidecar.api.models import ModelRoutes
from sidecar.api.review import ReviewRoutes
from sidecar.api.session import SessionRoutes
from sidecar.api.system import SystemRoutes
from sidecar.api.tasks import TaskRoutes
from sidecar.api.tickets import Tickets
from sidecar.api.tools import ToolRoutes
from sidecar.api.trust import TrustRoutes
from sidecar.wire.base import Wire
from sidecar.wire.events import EventPage
from sidecar.wire.models import LocalServerList, ModelTest, ModelTestRequest, UseAnswer, UseRequest
from sidecar.wire.system import (
    AgentList,
    Examination,
    GrantList,
    Health,
    KeyList,
    KeyRequest,
    ModelList,
    PolicyAnswer,
    PolicyRequest,
    RevokeRequest,
    SessionCode,
    SessionRequest,
    SessionToken,
    StatusAnswer,
    Ticket,
    TrustAnswer,
    TrustRequest,
)
from sidecar.wire.tasks import (
    Accepted,
    ApprovalAnswer,
    ApprovalRequest,
    ApprovalsAnswer,
    ApprovalsRequest,
    DiffAnswer,
    ExecuteRequest,
    ForkRequest,
    HunkRequest,
    MessageRequest,
    RewindAnswer,
    RewindRequest,
    RouteAnswer,
    RouteRequest,
    Task,
    TaskPage,
)
from sidecar.wire.tools import BatchAnswer, BatchRequest, ToolList

Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Query:
    name: str
    description: str
    kind: str = "string"


@dataclass(frozen=True, slots=True)
class Described:
    """What a client must know of a route. `answer` is a wire type, or the media type of something else."""

    method: str
    path: str
    name: str
    summary: str
    answer: type[Wire] | str
    status: int = 200
    body: type[Wire] | None = None
    query: Sequence[Query] = ()
    headers: Sequence[Query] = ()
    refusals: Sequence[int] = ()


_AFTER = Query("after", "Only what comes after this sequence number.", "integer")
_TASK = "/api/brain/tasks/{task_id}"

TABLE: Sequence[Described] = (
    Described("GET", "/health", "health", "Whether the sidecar is there", Health),
    Described("GET", "/openapi.json", "openapi", "This document", "application/json"),
    Described("GET", "/metrics", "metrics", "Numbers, in Prometheus' text format", "text/plain"),
    Described(
        "POST",
        "/api/brain/execute",
        "execute",
        "Start a task",
        Accepted,
        202,
        ExecuteRequest,
        headers=(Query("Idempotency-Key", "The same key gives the same task."),),
        refusals=(429, 503),
    ),
    Described(
        "GET",
        "/api/brain/tasks",
        "tasks",
        "The tasks, newest first",
        TaskPage,
        query=(
            Query("status", "Only tasks in these statuses, with commas between them."),
            Query("limit", "How many at most; 50 unless told, 200 at the most.", "integer"),
            Query("before", "Only tasks older than the one with this id."),
        ),
        refusals=(404,),
    ),
    Described("GET", _TASK, "task", "A task", Task, refusals=(404,)),
    Described(
        "GET",
        f"{_TASK}/stream",
        "stream",
        "A task's events, as server-sent events",
        "text/event-stream",
        query=(_AFTER,),
        headers=(Query("Last-Event-ID", "Resume after this event."),),
        refusals=(404, 503),
    ),
    Described(
        "GET",
        f"{_TASK}/events",
        "events",
        "A task's events, by page",
        EventPage,
        query=(_AFTER, Query("limit", "How many at most; 500 unless told, 2000 at the most.", "integer")),
        refusals=(404,),
    ),
    Described("POST", f"{_TASK}/cancel", "cancel", "Cancel a task", Accepted, 202, refusals=(404, 409)),
    Described(
        "POST", f"{_TASK}/resume", "resume", "Go on from the last checkpoint", Accepted, 202, refusals=(404, 409)
    ),
    Described(
        "POST",
        f"{_TASK}/messages",
        "message",
        "Steer a task at work, or continue one that has ended",
        Accepted,
        202,
        MessageRequest,
        refusals=(404, 409),
    ),
    Described(
        "POST",
        f"{_TASK}/approvals/{{approval_id}}",
        "approve",
        "Answer what a task asks",
        ApprovalAnswer,
        200,
        ApprovalRequest,
        refusals=(404, 409),
    ),
    Described("GET", f"{_TASK}/diff", "diff", "What the task changed", DiffAnswer, refusals=(404, 409)),
    Described(
        "POST",
        f"{_TASK}/hunks",
        "hunks",
        "Keep or take back parts of what the task changed",
        DiffAnswer,
        200,
        HunkRequest,
        refusals=(404, 409),
    ),
    Described(
        "POST",
        f"{_TASK}/rewind",
        "rewind",
        "Files and conversation as they were at a checkpoint",
        RewindAnswer,
        200,
        RewindRequest,
        refusals=(404, 409),
    ),
    Described(
        "POST",
        f"{_TASK}/fork",
        "fork",
        "Start a new task from a checkpoint",
        Accepted,
        202,
        ForkRequest,
        headers=(Query("Idempotency-Key", "The same key gives the same task."),),
        refusals=(404, 409, 429, 503),
    ),
    Described(
        "POST",
        f"{_TASK}/approvals",
        "approve_several",
        "Answer several things that a task asks",
        ApprovalsAnswer,
        200,
        ApprovalsRequest,
        refusals=(404, 409),
    ),
    Described("GET", "/api/brain/tools", "tools", "The tools", ToolList),
    Described(
        "POST",
        "/api/brain/tools/batch",
        "tools_batch",
        "Run some tools without a model",
        BatchAnswer,
        200,
        BatchRequest,
    ),
    Described("POST", "/api/brain/route", "route", "What would be done with a task", RouteAnswer, 200, RouteRequest),
    Described(
        "POST",
        "/api/brain/policy/explain",
        "policy_explain",
        "Whether a call would be allowed, and why",
        PolicyAnswer,
        200,
        PolicyRequest,
    ),
    Described("GET", "/api/brain/trust", "trust", "Which workspaces are trusted", TrustAnswer),
    Described(
        "POST", "/api/brain/trust", "set_trust", "Trust a workspace, or no longer", TrustAnswer, 200, TrustRequest
    ),
    Described("GET", "/api/brain/approvals", "approvals", "What was allowed for whole workspaces and tasks", GrantList),
    Described(
        "POST",
        "/api/brain/approvals/revoke",
        "revoke_approval",
        "Allow it no longer",
        GrantList,
        200,
        RevokeRequest,
        refusals=(404,),
    ),
    Described("GET", "/api/brain/agents", "agents", "The agents", AgentList),
    Described("GET", "/api/brain/models", "models", "The models, and who plays which role", ModelList),
    Described("GET", "/api/brain/models/local", "local_models", "Model servers on this machine", LocalServerList),
    Described(
        "POST",
        "/api/brain/models/test",
        "test_model",
        "Try a model with one small request",
        ModelTest,
        200,
        ModelTestRequest,
    ),
    Described(
        "PUT",
        "/api/brain/models/use",
        "use_model",
        "Choose the model of a role, in the person's own configuration",
        UseAnswer,
        200,
        UseRequest,
        refusals=(409,),
    ),
    Described("GET", "/api/brain/keys", "keys", "Which model providers have a key, and where it is", KeyList),
    Described(
        "PUT",
        "/api/brain/keys",
        "set_key",
        "Put a key away, or take it out",
        KeyList,
        200,
        KeyRequest,
        refusals=(404, 503),
    ),
    Described("GET", "/api/brain/doctor", "doctor", "What is set up, what is missing, and how to fix it", Examination),
    Described("GET", "/api/brain/status", "status", "How the sidecar is", StatusAnswer),
    Described("POST", "/api/brain/bridge/ticket", "bridge_ticket", "A one-time ticket for the bridge", Ticket),
    Described("POST", "/api/brain/session/code", "session_code", "A one-time code for the panel", SessionCode),
    Described(
        "POST",
        "/api/brain/session",
        "session",
        "Trade a one-time code for the token",
        SessionToken,
        200,
        SessionRequest,
    ),
)


def endpoints(
    tasks: TaskRoutes,
    review: ReviewRoutes,
    tools: ToolRoutes,
    trust: TrustRoutes,
    models: ModelRoutes,
    keys: KeyRoutes,
    doctor: DoctorRoutes,
    system: SystemRoutes,
    session: SessionRoutes,
    tickets: Tickets,
    openapi: Endpoint,
) -> dict[str, Endpoint]:
    return {
        "health": system.health,
        "openapi": openapi,
        "metrics": system.metrics,
        "execute": tasks.execute,
        "tasks": tasks.list,
        "task": tasks.show,
        "stream": tasks.stream,
        "events": tasks.events,
        "cancel": tasks.cancel,
        "resume": tasks.resume,
        "message": tasks.message,
        "approve": tasks.approve,
        "approve_several": tasks.approve_several,
        "diff": review.diff,
        "hunks": review.hunks,
        "rewind": review.rewind,
        "fork": tasks.fork,
        "tools": tools.list,
        "tools_batch": tools.batch,
        "route": system.route,
        "policy_explain": tools.explain,
        "approvals": trust.granted,
        "revoke_approval": trust.revoke,
        "trust": trust.list,
        "set_trust": trust.set,
        "agents": system.agents,
        "models": models.list,
        "local_models": models.local,
        "test_model": models.test,
        "use_model": models.use,
        "keys": keys.list,
        "set_key": keys.set,
        "doctor": doctor.examine,
        "status": system.status,
        "bridge_ticket": tickets.endpoint,
        "session_code": session.make_code,
        "session": session.trade,
    }
