"""OpenTelemetry spans of a task, derived from its events: the task, its agents, their requests and tool calls.

Names follow the conventions for generative AI (`gen_ai.*`). What was said, and the arguments and results of calls, are
left out unless asked for. The result is OTLP as JSON, sent over HTTP to a collector that you name.
"""

import http.client
import json
import os
import re
import ssl
from collections.abc import Iterable, Mapping
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from sidecar import __version__
from sidecar.telemetry.correlation import span_of, trace_of

Json = dict[str, Any]
_INTERNAL, _CLIENT = 1, 3
_ERROR = 2
#: The agent in a turn's key, such as `r1.2-coder.0`.
_AGENT = re.compile(r"\.\d+-([a-z][a-z0-9_-]*)")
_OUTCOMES = ("success", "error", "cancelled", "unknown")
_MAX_TEXT = 20_000


class Span:
    def __init__(self, name: str, key: str, parent: str, start: str, kind: int = _INTERNAL) -> None:
        self.name, self.id, self.parent, self.kind = name, span_of(key), parent, kind
        self.start = self.end = start
        self.attributes: Json = {}
        self.error = ""

    def to_json(self, trace_id: str) -> Json:
        status: Json = {"code": _ERROR, "message": self.error[:1_000]} if self.error else {}
        return {
            "traceId": trace_id,
            "spanId": self.id,
            **({"parentSpanId": self.parent} if self.parent else {}),
            "name": self.name,
            "kind": self.kind,
            "startTimeUnixNano": _nanoseconds(self.start),
            "endTimeUnixNano": _nanoseconds(max(self.start, self.end)),
            "attributes": [{"key": key, "value": _value(value)} for key, value in self.attributes.items()],
            "status": status,
        }


class TaskSpans:
    """Folds the events of one task, in order, into spans."""

    def __init__(self, task: Mapping[str, Any], *, content: bool = False) -> None:
        self._content = content
        self._trace = trace_of(task["id"], task.get("traceparent"))
        # A request without a trace of its own has no span that the task could belong to.
        parent = "" if self._trace.span_id in ("", span_of(self._trace.trace_id)) else self._trace.span_id
        self._root = Span("task", task["id"], parent, task["createdAt"])
        self._root.attributes = {
            "brain.task.id": task["id"],
            "brain.task.status": task["status"],
            "gen_ai.conversation.id": task["conversationId"],
            **({"brain.task.intent": task["intent"]} if task.get("intent") else {}),
        }
        self.spans = [self._root]
        self._steps: dict[int, Span] = {}
        #: When each agent last did something: its next request began then, as far as events tell.
        self._active: dict[str, str] = {}
        self._approvals: dict[str, Span] = {}
        self._said: list[Json] = []

    def fold(self, event: Mapping[str, Any]) -> None:
        at = event["at"] or self._root.end
        self._root.end = max(self._root.end, at)
        match event["type"]:
            case "step":
                self._step(event, at)
            case "usage" if event.get("spent"):
                self._request(event, at)
            case "tool" if event["status"] in _OUTCOMES:
                self._tool(event, at)
            case "message" if self._content and event["role"] == "assistant":
                self._said = [{"role": "assistant", "parts": [{"type": "text", "content": event["text"][:_MAX_TEXT]}]}]
            case "approval":
                self._approval(event, at)
            case "verification":
                self._verification(event, at)
            case "status" if event["status"] == "completed":
                self._root.error = ""  # an earlier round may have failed
                self._root.attributes.pop("error.type", None)
            case "error":
                self._root.error = event["message"]
                self._root.attributes["error.type"] = event["code"]

    def to_json(self) -> Json:
        """An `ExportTraceServiceRequest`."""
        spans = [span.to_json(self._trace.trace_id) for span in self.spans]
        scope = {"name": "rainy-brain", "version": __version__}
        service = {"service.name": "rainy-brain", "service.version": __version__}
        resource = {"attributes": [{"key": key, "value": _value(value)} for key, value in service.items()]}
        return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans}]}]}

    def _step(self, event: Mapping[str, Any], at: str) -> None:
        agent = event["agent"]
        if event["state"] == "started":
            span = self._steps[event["step"]] = Span(
                f"invoke_agent {agent}", f"{self._root.attributes['brain.task.id']}.{event['seq']}", self._root.id, at
            )
            span.attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent}
            self.spans.append(span)
            self._active[agent] = at
        elif (open_step := self._steps.pop(event["step"], None)) is not None:
            open_step.end = at
            open_step.error = event["message"] if event["state"] == "failed" else ""

    def _request(self, event: Mapping[str, Any], at: str) -> None:
        agent, model = event.get("agent", ""), event.get("model", "")
        provider, _, name = model.partition("/")
        parent, spent = self._parent(agent), event["spent"]
        key = f"{self._root.attributes['brain.task.id']}.{event['seq']}"
        span = Span(f"chat {name}", key, parent.id, self._active.get(agent, parent.start), _CLIENT)
        span.end = self._active[agent] = at
        span.attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": name,
            "gen_ai.agent.name": agent,
            "gen_ai.usage.input_tokens": spent["inputTokens"],
            "gen_ai.usage.output_tokens": spent["outputTokens"],
            "gen_ai.usage.cache_read.input_tokens": spent["cachedTokens"],
            "brain.estimated_cost_usd": float(spent["costUsd"]),
        }
        if self._content and self._said:
            span.attributes["gen_ai.output.messages"] = json.dumps(self._said, ensure_ascii=False)
        self.spans.append(span)

    def _tool(self, event: Mapping[str, Any], at: str) -> None:
        found = _AGENT.search(event.get("messageId") or event["callId"])
        agent = found[1] if found else ""
        start = _earlier(at, event["durationMs"])
        span = Span(f"execute_tool {event['tool']}", event["callId"], self._parent(agent).id, start)
        span.end = self._active[agent] = at
        span.attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": event["tool"],
            "gen_ai.tool.call.id": event["callId"],
            "gen_ai.tool.type": "function",
            "brain.tool.status": event["status"],
            "brain.tool.executor": event["executor"],
            "brain.tool.cached": event["cached"],
        }
        if event["status"] != "success":
            span.error = event["summary"] if self._content else event["status"]
            span.attributes["error.type"] = (event.get("error") or {}).get("code", event["status"])
        if self._content:
            span.attributes["gen_ai.tool.call.arguments"] = json.dumps(event["args"], ensure_ascii=False)[:_MAX_TEXT]
            span.attributes["gen_ai.tool.call.result"] = event["summary"][:_MAX_TEXT]
        self.spans.append(span)

    def _approval(self, event: Mapping[str, Any], at: str) -> None:
        if event["state"] == "requested":
            span = self._approvals[event["approvalId"]] = Span("approval", event["approvalId"], self._root.id, at)
            span.attributes = {"gen_ai.tool.call.id": event["callId"]}
            self.spans.append(span)
        elif (asked := self._approvals.pop(event["approvalId"], None)) is not None:
            asked.end = at
            asked.attributes["brain.approval.answer"] = event["state"]

    def _verification(self, event: Mapping[str, Any], at: str) -> None:
        took = sum(check["durationMs"] for check in event["checks"])
        span = Span(
            "verification",
            f"{self._root.attributes['brain.task.id']}.{event['seq']}",
            self._root.id,
            _earlier(at, took),
        )
        span.end = at
        span.attributes = {"brain.verification.passed": event["passed"], "brain.verification.attempt": event["attempt"]}
        span.error = "" if event["passed"] else "a check failed"
        self.spans.append(span)

    def _parent(self, agent: str) -> Span:
        """The newest open step of this agent, else the newest open one, else the task."""
        open_steps = list(self._steps.values())
        own = [span for span in open_steps if span.attributes["gen_ai.agent.name"] == agent]
        return [self._root, *open_steps, *own][-1]


def task_trace(task: Mapping[str, Any], events: Iterable[Mapping[str, Any]], *, content: bool = False) -> Json:
    spans = TaskSpans(task, content=content)
    for event in events:
        spans.fold(event)
    return spans.to_json()


def _value(value: object) -> dict[Literal["boolValue", "intValue", "doubleValue", "stringValue"], Any]:
    """Protobuf's JSON writes 64-bit integers as strings."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": str(value)}


def _nanoseconds(at: str) -> str:
    """From milliseconds, in integers: a float has too few digits."""
    moment = datetime.fromisoformat(at)
    whole = int(moment.replace(microsecond=0).timestamp())
    return str(whole * 1_000_000_000 + moment.microsecond * 1_000)


def _earlier(at: str, milliseconds: float) -> str:
    moment = datetime.fromisoformat(at) - timedelta(milliseconds=max(0.0, milliseconds))
    return moment.isoformat(timespec="milliseconds")[:-6] + "Z"


ENDPOINT_VARIABLE = "OTEL_EXPORTER_OTLP_ENDPOINT"
HEADERS_VARIABLE = "OTEL_EXPORTER_OTLP_HEADERS"
SECONDS = 10.0
_PATH = "/v1/traces"
_MAX_ANSWER = 65_536


class NotExported(Exception):
    """The message says why, without the address's password or the headers."""


def export(document: Mapping[str, Any], endpoint: str) -> None:
    """Follows no redirect: what you send goes only where you said."""
    url = urlsplit(endpoint)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise NotExported("The collector's address must begin with http:// or https://.")
    path = url.path if url.path.endswith(_PATH) else url.path.rstrip("/") + _PATH
    headers = {"Content-Type": "application/json", **_headers(os.environ.get(HEADERS_VARIABLE, ""))}
    with closing(_connection(url.scheme, url.hostname, url.port)) as connection:
        try:
            connection.request("POST", path, json.dumps(document).encode(), headers)
            response = connection.getresponse()
            said = response.read(_MAX_ANSWER)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise NotExported(f"{url.hostname} doesn't answer: {error or type(error).__name__}.") from error
    if not 200 <= response.status < 300:
        raise NotExported(f"{url.hostname} answered {response.status}: {said[:200].decode('utf-8', 'replace')}")
    if rejected := _rejected(said):
        raise NotExported(f"{url.hostname} rejected {rejected} spans.")


def _connection(scheme: str, host: str, port: int | None) -> http.client.HTTPConnection:
    if scheme == "https":
        return http.client.HTTPSConnection(host, port, timeout=SECONDS, context=ssl.create_default_context())
    return http.client.HTTPConnection(host, port, timeout=SECONDS)


def _headers(text: str) -> dict[str, str]:
    """`name=value` pairs separated by commas; values may be percent-encoded."""
    pairs = (part.partition("=") for part in text.split(",") if "=" in part)
    return {name.strip(): unquote(value.strip()) for name, _, value in pairs}


def _rejected(said: bytes) -> int:
    try:
        return int(json.loads(said)["partialSuccess"]["rejectedSpans"])
    except (ValueError, KeyError, TypeError):
        return 0
