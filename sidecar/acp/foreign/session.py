"""One prompt to an external agent, and its requests meanwhile: they go through our files, approvals and limits."""

import asyncio
import hashlib
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sidecar.acp.rpc import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Json, RpcError
from sidecar.engine.errors import AgentError
from sidecar.wire.base import ToolStatus
from sidecar.wire.events import DeltaEvent, ToolEvent
from sidecar.work.roster import Agent
from tools.errors import ToolError
from tools.executor.context import BatchContext, ToolCall
from tools.ledger import ApprovalPrompt
from tools.protected import secret_part
from tools.text import first_words

if TYPE_CHECKING:
    from sidecar.acp.foreign.process import AgentConnection
    from sidecar.engine.run import TaskRun
    from tools.executor.executor import Executor

#: An agent that says nothing for so long hangs; it may well compute for minutes.
SILENT_SECONDS = 900.0
START_SECONDS = 60.0
_MAX_TEXT = 200_000
_MAX_CALLS = 1_000
_MAX_OPEN = 100
_MAX_FILE = 4 * 1024 * 1024
_TITLE = 300
#: What an agent may do in its sandbox without asking you, like our own agents: the files there are its work.
_CONTAINED = frozenset({"read", "edit", "search", "think", "move"})
_STATUSES: dict[str, ToolStatus] = {
    "pending": "pending",
    "in_progress": "running",
    "completed": "success",
    "failed": "error",
}


class AgentSession:
    def __init__(
        self, run: "TaskRun", executor: "Executor", agent: Agent, call_id: str, connection: "AgentConnection"
    ) -> None:
        self._run = run
        self._executor = executor
        self._agent = agent
        self._call_id = call_id
        self._connection = connection
        self._session = ""
        self._text = ""
        self._calls: dict[str, ToolEvent] = {}
        self._asked = 0
        self._waits = 0
        self._written = 0
        self._open = 0
        self._reading = asyncio.Lock()

    async def prompt(self, text: str) -> str:
        """Its answer. Raises `AgentError` if it dies, hangs, floods us or gives up."""
        serving = asyncio.create_task(self._connection.serve(self._handle))
        talking = asyncio.create_task(self._talk(text))
        try:
            while not talking.done():
                await asyncio.wait({serving, talking}, timeout=5.0, return_when=asyncio.FIRST_COMPLETED)
                # When the connection ends, so do the requests that wait for an answer.
                if talking.cancelled() or (serving.done() and not talking.done()):
                    ended = self._connection.closed_because or "it ended in the middle of its work"
                    raise self._error("agent_ended", ended)
                if time.monotonic() - self._connection.heard > SILENT_SECONDS and not self._waits:
                    raise self._error("agent_silent", f"it said nothing for {SILENT_SECONDS / 60:.0f} minutes")
            return await talking
        except RpcError as error:
            raise self._error("agent_failed", f"it answered with an error: {first_words(str(error), 500)}") from error
        finally:
            for task in (talking, serving):
                task.cancel()
            await asyncio.gather(talking, serving, return_exceptions=True)

    async def _talk(self, text: str) -> str:
        capabilities = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": False}
        try:
            async with asyncio.timeout(START_SECONDS):
                info = {"name": "rainy-brain", "version": "1"}
                hello = {"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": info}
                answer = await self._connection.request("initialize", hello)
                if not isinstance(answer, dict) or answer.get("protocolVersion") != 1:
                    raise self._error("agent_protocol", "it speaks no version 1 of the protocol")
                place = {"cwd": self._run.request.workspace, "mcpServers": []}
                opened = await self._connection.request("session/new", place)
        except TimeoutError as error:
            raise self._error("agent_silent", f"it did not start within {START_SECONDS:.0f} seconds") from error
        self._session = str(opened.get("sessionId", "")) if isinstance(opened, dict) else ""
        said = {"sessionId": self._session, "prompt": [{"type": "text", "text": text}]}
        ended = await self._connection.request("session/prompt", said)
        reason = ended.get("stopReason") if isinstance(ended, dict) else None
        if reason != "end_turn":
            raise self._error("agent_gave_up", f"it stopped early ({first_words(str(reason), 100)})")
        return self._text.strip() or "Done."

    def stop(self) -> None:
        if self._session:
            self._connection.notify("session/cancel", {"sessionId": self._session})

    # -- what it asks for --------------------------------------------------------------------------------------------

    async def _handle(self, method: str, params: Json) -> object:
        if self._open >= _MAX_OPEN:
            raise RpcError(INVALID_REQUEST, "Too many requests are open.")
        self._open += 1
        try:
            return await self._answer(method, params)
        finally:
            self._open -= 1

    async def _answer(self, method: str, params: Json) -> object:
        match method:
            case "session/update":
                self._update(params.get("update"))
                return None
            case "session/request_permission":
                return await self._permit(params)
            case "fs/read_text_file":
                # One at a time, and only as fast as the agent takes the answers.
                async with self._reading:
                    await self._connection.drain()
                    return await self._read(params)
            case "fs/write_text_file":
                return await self._write(params)
        raise RpcError(METHOD_NOT_FOUND, f"This client has no {method[:100]}.")

    async def _read(self, params: Json) -> Json:
        path = self._inside(params)
        host = self._executor.host(self._run.request.workspace)
        if secret_part(path) or host is None:
            raise RpcError(INVALID_PARAMS, f"{path} holds secrets, or can't be read.")
        try:
            text = (await host.read(path, _MAX_FILE)).decode("utf-8", "replace")
        except (ToolError, OSError) as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error
        line, limit = params.get("line"), params.get("limit")
        if isinstance(line, int) or isinstance(limit, int):
            first = max(0, line - 1) if isinstance(line, int) else 0
            lines = text.splitlines(keepends=True)[first:]
            text = "".join(lines[:limit] if isinstance(limit, int) else lines)
        return {"content": text}

    async def _write(self, params: Json) -> Json:
        """As a call of ours: policy decides, and it can be undone."""
        path, content = self._inside(params), params.get("content")
        if not isinstance(content, str):
            raise RpcError(INVALID_PARAMS, "content must be a text.")
        self._written += 1
        options = self._run.request.options
        context = BatchContext(
            workspace=self._run.request.workspace,
            approvals=options.approvals,
            ledger=self._run.ledger,
            tools=frozenset({"write_file"}),
            unattended=not options.can_ask,
            copy_of=tuple(filter(None, (self._run.origin,))),
        )
        call = ToolCall(f"{self._call_id}w{self._written}", "write_file", {"path": path, "content": content})
        (outcome,) = await self._executor.batch([call], context)
        if outcome.status != "success":
            raise RpcError(INVALID_PARAMS, outcome.error.message if outcome.error else outcome.summary)
        return {}

    def _inside(self, params: Json) -> str:
        """Relative to the workspace; the executor and the host refuse what leads out of it by links."""
        path, place = params.get("path"), self._run.request.workspace
        if not isinstance(path, str) or "\0" in path:
            raise RpcError(INVALID_PARAMS, "path must be a text.")
        relative = os.path.relpath(os.path.join(place, path), place)  # noqa: PTH118 - not resolved
        if Path(relative).parts[:1] == ("..",):
            raise RpcError(INVALID_PARAMS, f"{path[:200]} is outside the workspace.")
        return relative

    # -- approvals ---------------------------------------------------------------------------------------------------

    async def _permit(self, params: Json) -> Json:
        call = params.get("toolCall")
        options = [each for each in params.get("options") or () if isinstance(each, dict)]
        decision = await self._decide(call if isinstance(call, dict) else {})
        kinds = ("allow_once", "allow_always") if decision == "allow" else ("reject_once", "reject_always")
        for kind in kinds:
            for option in options:
                if option.get("kind") == kind and isinstance(option.get("optionId"), str):
                    return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}
        return {"outcome": {"outcome": "cancelled"}}

    async def _decide(self, call: Json) -> Literal["allow", "deny"]:
        """The sandbox holds whatever the agent says that it does; approvals are what you wanted to be asked."""
        chosen, kind = self._run.request.options, str(call.get("kind"))
        if chosen.approvals == "readonly":
            return "allow" if kind in ("read", "search", "think") else "deny"
        if kind in _CONTAINED and chosen.approvals != "edits":
            return "allow"
        if not chosen.can_ask:
            return "allow" if chosen.approvals == "auto" and kind in (*_CONTAINED, "execute", "delete") else "deny"
        self._asked += 1
        title = self._line(call.get("title") or kind)
        raw = json.dumps(call.get("rawInput"), ensure_ascii=False)[:4_000] if call.get("rawInput") else ""
        prompt = ApprovalPrompt(
            id=f"{self._call_id}p{self._asked}",
            call_id=self._call_id,
            tool="foreign_agent",
            action=f"{self._agent.name}: {title}",
            why=f"The agent {self._agent.name} asks for it. {self._executor.redact(raw)}".strip(),
            binding=hashlib.sha256(json.dumps(call, sort_keys=True).encode()).hexdigest(),
        )
        self._waits += 1
        try:
            return await self._run.ledger.ask(prompt)
        finally:
            self._waits -= 1
            self._connection.heard = time.monotonic()

    # -- what it says ------------------------------------------------------------------------------------------------

    def _update(self, update: Any) -> None:
        if not isinstance(update, dict):
            return
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                content = update.get("content")
                text = content.get("text") if isinstance(content, dict) else None
                if isinstance(text, str) and len(self._text) < _MAX_TEXT:
                    self._text += text[: _MAX_TEXT - len(self._text)]
                    delta = DeltaEvent(
                        message_id=self._call_id,
                        role="assistant",
                        agent=self._agent.name,
                        text=self._executor.redact(text),
                        kind="text",
                    )
                    self._run.log.live(delta)
            case "tool_call" | "tool_call_update":
                self._show_call(update)

    def _show_call(self, update: Json) -> None:
        name = str(update.get("toolCallId"))[:100]
        known = self._calls.get(name)
        if known is None and len(self._calls) >= _MAX_CALLS:
            return
        status = _STATUSES.get(str(update.get("status")), known.status if known else "pending")
        title = self._line(update.get("title") or (known.summary if known else name))
        event = ToolEvent(
            call_id=f"{self._call_id}:{hashlib.sha256(name.encode()).hexdigest()[:12]}",
            tool=first_words(str(update.get("kind") or (known.tool if known else "other")), 40),
            status=status,
            args={},
            summary=title,
            duration_ms=0,
            cached=False,
            executor="agent",
        )
        if known is None or (known.status, known.summary) != (event.status, event.summary):
            self._run.log.enqueue(event)
        self._calls[name] = event

    def _line(self, text: object) -> str:
        return first_words(" ".join(self._executor.redact(str(text)[:2_000]).split()), _TITLE)

    def _error(self, code: str, why: str) -> AgentError:
        message = f"The agent {self._agent.name} did not finish: {why}. What it changed is kept; resume to try again."
        return AgentError(code, message, retry=False)
