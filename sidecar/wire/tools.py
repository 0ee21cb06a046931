"""Tools as models, the bridge and the panel see them, and batches of calls."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from sidecar.wire.base import ErrorBody, JsonObject, RequestBody, ToolStatus, Wire, optional
from sidecar.wire.tasks import Approvals, ShortText

Executor = Literal["shell", "local", "hybrid", "mcp"]
Effects = Literal["none", "files", "command"]


class ToolInfo(Wire):
    name: str
    description: str
    parameters: Annotated[JsonObject, Field(description="A JSON schema of the arguments.")]
    executor: Executor
    timeout: Annotated[float, Field(description="Seconds.")]
    retryable: bool
    parallel: bool
    effects: Effects


class ToolList(Wire):
    tools: list[ToolInfo]


class ToolCallRequest(RequestBody):
    tool: ShortText
    args: JsonObject = {}
    call_id: ShortText | None = None


class BatchRequest(RequestBody):
    workspace: ShortText | None = None
    calls: Annotated[list[ToolCallRequest], Field(min_length=1, max_length=500)]
    parallel: bool = True
    max_concurrency: Annotated[int, Field(ge=1, description="Never more than 10 run at once.")] = 10
    approvals: Approvals = "ask"


class ToolAnswer(Wire):
    call_id: str
    tool: str
    status: ToolStatus
    content: str
    details: JsonValue
    error: ErrorBody | None = optional()
    duration_ms: float
    cached: bool
    executor: str


class BatchAnswer(Wire):
    results: list[ToolAnswer]
