"""Our tasks as MCP tasks (SEP-2663), for clients that know the extension: `run_task` answers at once with a handle.

The handle is our own task id. What a task asks you becomes an elicitation in `inputRequests`; `tasks/update` carries
the answer. A client of the earlier era, or without the extension, gets the plain result of `run_task` as before.
"""

import asyncio
import json
from typing import Any

from mcp.server.extension import Extension, MethodBinding
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, MISSING_REQUIRED_CLIENT_CAPABILITY, RequestParams

from sidecar.client.errors import ClientError, Refused
from sidecar.mcp.tools import BrainTools, Connect, Json, explain, ignore_progress

IDENTIFIER = "io.modelcontextprotocol/tasks"
_VERSIONS = frozenset({"2026-07-28"})
_POLL_MS = 500
_STATUSES = {"completed": "completed", "failed": "completed", "escalated": "completed", "cancelled": "cancelled"}


class TaskParams(RequestParams):  # type: ignore[misc]
    task_id: str


class UpdateParams(TaskParams):
    input_responses: dict[str, Any] = {}


class TasksExtension(Extension):  # type: ignore[misc]
    identifier = IDENTIFIER

    def __init__(self, connect: Connect, workspace: str) -> None:
        self._connect = connect
        self._workspace = workspace

    def methods(self) -> list[MethodBinding]:
        return [
            MethodBinding("tasks/get", TaskParams, self._get, _VERSIONS),
            MethodBinding("tasks/update", UpdateParams, self._update, _VERSIONS),
            MethodBinding("tasks/cancel", TaskParams, self._cancel, _VERSIONS),
        ]

    async def intercept_tool_call(self, params: Any, ctx: Any, call_next: Any) -> Any:
        # A call that waits for the end by itself wants the result, not a handle.
        given = params.arguments or {}
        if params.name != "run_task" or given.get("wait_seconds") or not _declares(ctx):
            return await call_next(ctx)
        result = await call_next(ctx)
        if getattr(result, "is_error", False):
            return result
        task_id = json.loads(result.content[0].text)["taskId"]
        return {**_task(await self._state(task_id, ctx)), "resultType": "task"}

    async def _get(self, ctx: Any, params: TaskParams) -> Json:
        _require(ctx)
        tools = await self._tools(ctx)
        state = await self._state(params.task_id, ctx)
        found, task = await tools.task_status(params.task_id), _task(state)
        if task["status"] == "input_required":
            task["inputRequests"] = {
                **{each["approvalId"]: _decision(each) for each in found["approvals"]},
                **{each["questionId"]: _question(each) for each in found["questions"]},
            }
        elif task["status"] == "completed":
            text = json.dumps(found, ensure_ascii=False, indent=2)
            failed = state["status"] != "completed"
            task["result"] = {"content": [{"type": "text", "text": text}], "isError": failed, "resultType": "complete"}
        return task

    async def _update(self, ctx: Any, params: UpdateParams) -> Json:
        """An answer that is no longer awaited changes nothing."""
        _require(ctx)
        tools = await self._tools(ctx)
        await self._state(params.task_id, ctx)
        found = await tools.task_status(params.task_id)
        approvals = {each["approvalId"] for each in found["approvals"]}
        questions = {each["questionId"] for each in found["questions"]}
        for asked, response in params.input_responses.items():
            answer = _answer(response)
            if asked in approvals or (asked in questions and answer):
                try:
                    await tools.approve(params.task_id, asked, answer or "deny")
                except ClientError as error:
                    raise MCPError(code=INVALID_PARAMS, message=explain(error)) from error
        return {}

    async def _cancel(self, ctx: Any, params: TaskParams) -> Json:
        _require(ctx)
        if (await self._state(params.task_id, ctx))["status"] not in _STATUSES:
            tools = await self._tools(ctx)
            await tools.cancel_task(params.task_id)
        return {}

    async def _tools(self, ctx: Any) -> BrainTools:
        service = await self._connect(getattr(ctx.request, "headers", None))
        return BrainTools(service, self._workspace, ignore_progress)

    async def _state(self, task_id: str, ctx: Any) -> Json:
        service = await self._connect(getattr(ctx.request, "headers", None))
        try:
            return await asyncio.to_thread(service.task(task_id).state)
        except Refused as error:
            raise MCPError(code=INVALID_PARAMS, message=explain(error)) from error


def _declares(ctx: Any) -> bool:
    known = ctx.session.client_capabilities
    return ctx.protocol_version in _VERSIONS and known is not None and IDENTIFIER in (known.extensions or {})


def _require(ctx: Any) -> None:
    if not _declares(ctx):
        needed: Json = {"requiredCapabilities": {"extensions": {IDENTIFIER: {}}}}
        message = f"Declare the extension {IDENTIFIER} to use its methods."
        raise MCPError(code=MISSING_REQUIRED_CLIENT_CAPABILITY, message=message, data=needed)


def _task(state: Json) -> Json:
    """A tool that ran and failed is `completed` there, with an error as its result."""
    waits = "input_required" if state["status"] == "waiting" else "working"
    return {
        "taskId": state["id"],
        "status": _STATUSES.get(state["status"], waits),
        "statusMessage": str(state["progress"]["message"])[:500],
        "createdAt": state["createdAt"],
        "lastUpdatedAt": state["endedAt"] or state["startedAt"] or state["createdAt"],
        "ttlMs": None,
        "pollIntervalMs": _POLL_MS,
    }


def _answer(response: Any) -> str:
    """Empty if the client's user declined. A question then stays open, an approval is denied."""
    content = response.get("content") if isinstance(response, dict) and response.get("action") == "accept" else None
    return str(content.get("decision", "")) if isinstance(content, dict) else ""


def _decision(approval: Json) -> Json:
    parts = [f"Allow {approval['action']}? {approval['why']}", *approval.get("argv", ()), approval.get("diff", "")]
    return _elicitation("\n".join(part for part in parts if part), ["allow", "deny"])


def _question(question: Json) -> Json:
    return _elicitation(str(question["text"]), question["choices"] or [])


def _elicitation(message: str, choices: list[str]) -> Json:
    answer: Json = {"type": "string", "enum": choices} if choices else {"type": "string"}
    schema = {"type": "object", "properties": {"decision": answer}, "required": ["decision"]}
    params = {"mode": "form", "message": message[:20_000], "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}
