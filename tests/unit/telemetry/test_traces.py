"""Traces: OTLP as its protocol buffers read it, with the conventions' names, and without what was said."""

import json
from typing import Any

import pytest
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from sidecar.telemetry.correlation import span_of, trace_of
from sidecar.telemetry.traces import task_trace

SECRET = "words that nobody asked for"
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TASK = {
    "id": "t_1",
    "status": "failed",
    "conversationId": "c_1",
    "intent": "edit_code",
    "createdAt": "2026-11-18T10:00:00.000Z",
    "traceparent": f"00-{TRACE}-{SPAN}-01",
}
USED = {"inputTokens": 100, "outputTokens": 20, "cachedTokens": 5, "costUsd": 0.25}


def event(type_: str, seq: int, second: int, **fields: Any) -> dict[str, Any]:
    return {"type": type_, "seq": seq, "taskId": "t_1", "at": f"2026-11-18T10:00:{second:02d}.000Z", **fields}


def call(seq: int, second: int, status: str, key: str, **more: Any) -> dict[str, Any]:
    fields = {"tool": "read_file", "status": status, "args": {"path": SECRET}, "summary": SECRET, "durationMs": 500.0}
    return event("tool", seq, second, callId=key, cached=False, executor="local", **fields, **more)


EVENTS = [
    event("status", 1, 0, status="queued"),
    event("step", 2, 1, step=1, total=2, message="code", agent="coder", state="started"),
    event("message", 3, 3, messageId="t_1.r1.1-coder.0", role="assistant", agent="coder", text=SECRET),
    event("usage", 4, 3, **USED, spent=USED, model="anthropic/claude-x", agent="coder"),
    call(5, 3, "running", "t_1.r1.1-coder.0.0"),
    call(6, 4, "success", "t_1.r1.1-coder.0.0"),
    call(7, 5, "error", "t_1.r1.1-coder.0.1", error={"code": "not_found", "message": SECRET}),
    event("approval", 8, 5, approvalId="a", callId="x", state="requested"),
    event("approval", 9, 9, approvalId="a", callId="x", state="denied"),
    event("step", 10, 10, step=1, total=2, message="broke", agent="coder", state="failed"),
    event("error", 11, 11, code="model_down", message="it is down", recoverable=True),
]


def spans(*, content: bool = False) -> dict[str, Any]:
    text = json.dumps(task_trace(TASK, EVENTS, content=content))
    # Reads hexadecimal ids as base64, which has the same alphabet; unknown fields and wrong types fail.
    request = Parse(text, ExportTraceServiceRequest())
    (resource,) = request.resource_spans
    (scope,) = resource.scope_spans
    assert {each.key: each.value.string_value for each in resource.resource.attributes}["service.name"] == "rainy-brain"
    return {span.name: span for span in scope.spans}


def ids(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    listed = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    return {span["name"]: span for span in listed}


def attributes(span: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}


def test_the_spans_follow_the_conventions() -> None:
    found = spans()
    chat, tool = found["chat claude-x"], found["execute_tool read_file"]
    assert attributes(chat) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-x",
        "gen_ai.agent.name": "coder",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 5,
        "brain.estimated_cost_usd": 0.25,
    }
    assert (chat.end_time_unix_nano - chat.start_time_unix_nano) == 2_000_000_000
    assert attributes(tool)["error.type"] == "not_found" and tool.status.code == 2
    assert tool.end_time_unix_nano - tool.start_time_unix_nano == 500_000_000
    assert found["approval"].end_time_unix_nano - found["approval"].start_time_unix_nano == 4_000_000_000
    assert found["task"].status.message == "it is down" and attributes(found["task"])["error.type"] == "model_down"


def test_they_hang_together_and_belong_to_the_clients_trace() -> None:
    listed = ids(task_trace(TASK, EVENTS))
    assert {span["traceId"] for span in listed.values()} == {TRACE}
    assert listed["task"]["parentSpanId"] == SPAN
    assert listed["invoke_agent coder"]["parentSpanId"] == listed["task"]["spanId"]
    assert listed["chat claude-x"]["parentSpanId"] == listed["invoke_agent coder"]["spanId"]
    # The same id that a shell or an MCP server gets with the call.
    assert listed["execute_tool read_file"]["spanId"] == span_of("t_1.r1.1-coder.0.1")
    assert all(len(span["spanId"]) == 16 and len(span["traceId"]) == 32 for span in listed.values())


@pytest.mark.parametrize("given", [None, trace_of("t_1").header()])
def test_a_task_without_a_clients_trace_is_a_root(given: str | None) -> None:
    task = {**TASK, "traceparent": given}
    assert "parentSpanId" not in ids(task_trace(task, EVENTS))["task"]


def test_what_was_said_is_left_out_unless_asked_for() -> None:
    assert SECRET not in json.dumps(task_trace(TASK, EVENTS))
    found = spans(content=True)
    assert SECRET in attributes(found["chat claude-x"])["gen_ai.output.messages"]
    assert SECRET in attributes(found["execute_tool read_file"])["gen_ai.tool.call.arguments"]


def test_an_unfinished_task_has_a_trace_too() -> None:
    for cut in range(len(EVENTS)):
        Parse(json.dumps(task_trace(TASK, EVENTS[:cut])), ExportTraceServiceRequest())
