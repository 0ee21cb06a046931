"""Frames as a foreign shell would write them: raw JSON, by the letter of the wire."""

import json
from typing import Any

from bridge.session.protocol import Effect, Send
from bridge.session.sidecar import SidecarSession
from sidecar.wire.bridge import Hello, ShellInfo, ToolCallFrame


def hello(workspace: str = "/w", tools: list[str] | None = None, **more: Any) -> Hello:
    info = ShellInfo(name="test", version="1")
    return Hello(shell=info, workspace=workspace, tools=["read_file"] if tools is None else tools, **more)


def session(**more: Any) -> SidecarSession:
    """One that is connected, and has been welcomed."""
    made = SidecarSession("s1", hello(**more), reconnect_seconds=30.0, heartbeat_seconds=15.0)
    made.connect(hello(**more))
    return made


def call(call_id: str = "c1", tool: str = "read_file", timeout_ms: int = 10_000, **args: Any) -> ToolCallFrame:
    return ToolCallFrame(id=call_id, tool=tool, args=args, timeout_ms=timeout_ms, workspace="/w")


def result(call_id: str = "c1", content: str = "done") -> str:
    return json.dumps({"type": "tool_result", "id": call_id, "result": {"content": content}})


def error(call_id: str | None = "c1", code: str = "broken") -> str:
    frame: dict[str, Any] = {"type": "error", "error": {"code": code, "message": "It broke."}}
    return json.dumps(frame if call_id is None else {**frame, "id": call_id})


def sent(effects: list[Any]) -> list[dict[str, Any]]:
    return [json.loads(effect.text) for effect in effects if isinstance(effect, Send)]


def others(effects: list[Effect]) -> list[Effect]:
    return [effect for effect in effects if not isinstance(effect, Send)]
