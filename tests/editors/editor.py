"""A strict editor on the other side of `brain acp`: every message of the agent must fit the published schema."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.e2e.support import PROJECT, SECONDS

Json = dict[str, Any]

SDK = PROJECT / "frontend" / "node_modules" / "@agentclientprotocol" / "sdk"
COMMAND = (sys.executable, "-m", "sidecar", "acp")


def schema(version: int) -> Json:
    path = SDK / "schema" / f"v{version}" / "schema.unstable.json"
    if not path.exists():
        pytest.skip("the ACP schema isn't installed (npm ci in frontend)")
    found: Json = json.loads(path.read_text())
    return found


class Editor:
    def __init__(self, process: asyncio.subprocess.Process, definitions: Json) -> None:
        self.updates: list[Json] = []
        #: What the agent asked, and the methods it withdrew.
        self.asked: list[Json] = []
        self.withdrawn: list[int] = []
        #: The answer to a permission request or a form, by the request.
        self.decide: Callable[[Json], Json | None] = lambda _: {"outcome": {"outcome": "selected", "optionId": "deny"}}
        self.process = process
        self._definitions = definitions
        self._last = 0
        self._answers: dict[int, asyncio.Future[Json]] = {}
        self._arrived = asyncio.Condition()
        self._reading = asyncio.create_task(self._read())

    async def request(self, method: str, **params: Any) -> Json:
        """The result; fails with the error's message."""
        answer = await self.answer(method, **params)
        assert "error" not in answer, answer
        result: Json = answer["result"]
        return result

    async def answer(self, method: str, **params: Any) -> Json:
        return await asyncio.wait_for(self.start(method, **params), SECONDS)

    def start(self, method: str, **params: Any) -> "asyncio.Future[Json]":
        self._last += 1
        future = self._answers[self._last] = asyncio.get_running_loop().create_future()
        self.send(id=self._last, method=method, params=params)
        return future

    def notify(self, method: str, **params: Any) -> None:
        self.send(method=method, params=params)

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def until(self, holds: Callable[[], object]) -> None:
        async with self._arrived:
            await asyncio.wait_for(self._arrived.wait_for(lambda: bool(holds())), SECONDS)

    async def session(self, workspace: Path, **capabilities: Any) -> str:
        await self.request("initialize", protocolVersion=1, clientCapabilities=capabilities)
        new = await self.request("session/new", cwd=str(workspace), mcpServers=[])
        session_id: str = new["sessionId"]
        return session_id

    async def prompt(self, session: str, text: str) -> str:
        """The stop reason."""
        done = await self.request("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])
        reason: str = done["stopReason"]
        return reason

    def text(self, kind: str = "agent_message_chunk") -> str:
        return "".join(update["content"]["text"] for update in self.updates if update["sessionUpdate"] == kind)

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            message = json.loads(line)
            self._check(message)
            self._take(message)
            async with self._arrived:
                self._arrived.notify_all()

    def _check(self, message: Json) -> None:
        if "method" not in message:
            kind = "AgentResponse"
        else:
            kind = "AgentRequest" if "id" in message else "AgentNotification"
        if message.get("method") != "$/cancel_request":
            jsonschema_rs.validate({"$ref": f"#/$defs/{kind}", "$defs": self._definitions["$defs"]}, message)

    def _take(self, message: Json) -> None:
        match message:
            case {"method": "session/update", "params": {"update": update}}:
                self.updates.append(update)
            case {"method": "$/cancel_request", "params": {"requestId": request_id}}:
                self.withdrawn.append(request_id)
            case {"method": str(), "id": request_id}:
                self.asked.append(message)
                decision = self.decide(message)
                if decision is not None:
                    self.send(id=request_id, result=decision)
            case {"id": request_id} if request_id in self._answers:
                self._answers.pop(request_id).set_result(message)


@asynccontextmanager
async def editor(environ: Mapping[str, str], version: int = 1) -> AsyncIterator[Editor]:
    definitions = schema(version)
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        env={**os.environ, **environ, "PYTHONPATH": str(PROJECT)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=64 * 1024 * 1024,
    )
    running = Editor(process, definitions)
    try:
        yield running
    finally:
        if process.returncode is None:
            assert process.stdin is not None
            process.stdin.close()
            await asyncio.wait_for(process.wait(), SECONDS)
        await asyncio.wait_for(running._reading, SECONDS)


def normalized(updates: list[Json]) -> list[Json]:
    """What an editor shows in the end: whole messages, and each call as it ended; without what is only live."""
    shown: dict[str, Json] = {}
    for update in updates:
        match update:
            case {"sessionUpdate": "agent_message_chunk" | "user_message_chunk" as kind, "messageId": str(key)}:
                text = shown.get(key, {}).get("text", "") + update["content"]["text"]
                shown[key] = {"kind": kind, "text": text}
            case {"sessionUpdate": "tool_call" | "tool_call_update", "toolCallId": key}:
                shown[key] = {**shown.get(key, {}), **update, "sessionUpdate": "call"}
            case {"sessionUpdate": "plan"}:
                shown["plan"] = update
    return list(shown.values())
