"""One task of a session while a client watches it: its updates, and what it asks you."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

from sidecar.acp import calls
from sidecar.acp.peer import Editor
from sidecar.acp.rpc import RpcError
from sidecar.acp.updates import Translator
from sidecar.client.errors import ClientError
from sidecar.client.follow import open_prompts
from sidecar.client.service import BrainService, TaskHandle

log = logging.getLogger(__name__)

Json = dict[str, Any]

#: Events that wait for a slow editor; then the thread waits.
_WAITING = 256

#: How long a cancelled prompt waits for the task's last events.
CANCEL_SECONDS = 0.8
_ENDED = {"completed": "end_turn", "failed": "end_turn", "escalated": "end_turn", "cancelled": "cancelled"}
_LIMITS = {"iteration_limit": "max_turn_requests", "token_limit": "max_tokens", "model_refused": "refusal"}
_PERMISSIONS = {
    "allow": ("Allow", "allow_once", "allow", "once"),
    "allow_task": ("Allow for this task", "allow_always", "allow", "task"),
    "allow_workspace": ("Always allow in this workspace", "allow_always", "allow", "workspace"),
    "deny": ("Deny", "reject_once", "deny", "once"),
}


async def events(service: BrainService, task_id: str, after: int = 0) -> AsyncIterator[Json]:
    """Every event once and in order, until the task ends; raises `ClientError` if the sidecar doesn't come back.

    A thread reads them, because the client library blocks.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Json | ClientError | None] = asyncio.Queue(_WAITING)
    left = threading.Event()

    def put(item: Json | ClientError | None) -> None:
        # The loop may have closed, or the reader left, while this thread waited for the sidecar.
        with suppress(RuntimeError, CancelledError):
            asyncio.run_coroutine_threadsafe(queue.put(item), loop).result()

    def read() -> None:
        try:
            for event in service.stream(task_id, after):
                if left.is_set():
                    return
                put(event)
            put(None)
        except ClientError as error:
            put(error)

    # A daemon thread: the exit doesn't wait for a stream.
    threading.Thread(target=read, name=f"stream {task_id}", daemon=True).start()
    try:
        while (item := await queue.get()) is not None:
            if isinstance(item, ClientError):
                raise item
            yield item
    finally:
        left.set()
        while not queue.empty():  # the thread may wait for room
            queue.get_nowait()


class Run:
    """`stop` is the stop reason of the prompts that wait for this task."""

    def __init__(
        self,
        session_id: str,
        workspace: str,
        service: BrainService,
        task: TaskHandle,
        peer: Editor,
        *,
        elicits: bool,
    ) -> None:
        self.task = task
        self.translator = Translator(workspace, replay=False, diffs=peer.diffs)
        self.stop: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        #: A question that the client can't show; the next prompt answers it.
        self.open_question: str | None = None
        self._session_id = session_id
        self._workspace = workspace
        self._service = service
        self._peer = peer
        self._elicits = elicits
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._limit = ""
        self._ended = False
        self._following = asyncio.create_task(self._follow())

    @property
    def active(self) -> bool:
        """Whether a prompt steers this task; after its last event, which the stream outlives, it starts a new one."""
        return not self._ended and not self._following.done()

    async def send(self, text: str) -> None:
        """Answer the open question, or steer the task."""
        self.stop = asyncio.get_running_loop().create_future() if self.stop.done() else self.stop
        self.expect(text)
        if self.open_question is not None:
            question, self.open_question = self.open_question, None
            await asyncio.to_thread(self.task.answer, question, text)
        else:
            await asyncio.to_thread(self.task.message, text)

    def expect(self, text: str) -> None:
        """The client said this, and shows it unless we are to repeat it."""
        if not self._peer.echoes:
            self.translator.own.append(text)

    async def cancel(self) -> None:
        """Nothing follows: the prompt is answered within a second, whatever the task still has to clean up."""
        for asking in self._asking.values():
            asking.cancel()
        with suppress(ClientError):
            await asyncio.to_thread(self.task.cancel)
        await asyncio.wait([self._following], timeout=CANCEL_SECONDS)
        self._following.cancel()
        self._resolve("cancelled")

    def detach(self) -> None:
        """Stop watching; the task goes on."""
        self._following.cancel()

    def ask_again(self, events: Iterable[Json]) -> None:
        """Ask again what earlier events asked and you haven't answered."""
        for event in open_prompts(events).values():
            self._open(event)

    async def _follow(self) -> None:
        try:
            async for event in events(self._service, self.task.id, self.translator.last_seq):
                await self._take(event)
            self._resolve("end_turn")
        except ClientError as error:
            self._update({"sessionUpdate": "agent_message_chunk", "content": calls.text_block(str(error))})
            self._resolve("end_turn")
        finally:
            for asking in self._asking.values():
                asking.cancel()

    async def _take(self, event: Json) -> None:
        match event:
            case {"type": "error", "code": code}:
                self._limit = _LIMITS.get(code, "")
            case {"type": "approval", "state": "allowed" | "denied"}:
                self._settle(event["approvalId"])
            case {"type": "question", "state": "answered"}:
                self._settle(event["questionId"])
        for update in self.translator.translate(event):
            self._update(update)
        self._open(event)
        await self._peer.drain()
        if event["type"] == "status" and event["status"] in _ENDED:
            self._ended = True
            self._resolve(self._limit or _ENDED[event["status"]])

    def _resolve(self, reason: str) -> None:
        if not self.stop.done():
            self.stop.set_result(reason)

    def _update(self, update: Json) -> None:
        self._peer.notify("session/update", {"sessionId": self._session_id, "update": update})

    # -- what the task asks -------------------------------------------------------------------------------------------

    def _open(self, event: Json) -> None:
        match event:
            case {"type": "approval", "state": "requested"}:
                self._ask(event["approvalId"], self._permission(event))
            case {"type": "question", "state": "asked"}:
                self._question(event)

    def _ask(self, key: str, asking: Coroutine[Any, Any, None]) -> None:
        self._asking[key] = asyncio.create_task(asking)

    def _settle(self, key: str) -> None:
        """Answered, here or elsewhere: a dialog that is still open closes."""
        asking = self._asking.pop(key, None)
        if asking is not None and not asking.done():
            asking.cancel()

    async def _permission(self, event: Json) -> None:
        options = [{"optionId": key, "name": name, "kind": kind} for key, (name, kind, *_) in _PERMISSIONS.items()]
        chosen = await self._choose(_asked(event, self._workspace, self._peer.diffs), options)
        if chosen is None:
            return  # the client cancelled the prompt, which cancels the task
        _, _, decision, scope = _PERMISSIONS.get(chosen, _PERMISSIONS["deny"])
        await self._submit(lambda: self.task.approve(event["approvalId"], decision, scope))  # type: ignore[arg-type]

    def _question(self, event: Json) -> None:
        if self._elicits:
            self._ask(event["questionId"], self._elicit(event))
        elif event.get("choices"):
            self._ask(event["questionId"], self._offer(event))
        else:
            self.open_question = event["questionId"]
            self._resolve("end_turn")

    async def _elicit(self, event: Json) -> None:
        choices = event.get("choices")
        answer = {"type": "string", "title": "Answer", **({"enum": choices} if choices else {})}
        schema = {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
        wanted = {"sessionId": self._session_id, "mode": "form", "message": event["text"], "requestedSchema": schema}
        try:
            given = await self._peer.request("elicitation/create", wanted)
        except RpcError as error:
            log.warning("The client can't ask the question: %s", error)
            self.open_question = event["questionId"]
            self._resolve("end_turn")
            return
        text = (given.get("content") or {}).get("answer") if given.get("action") == "accept" else None
        if isinstance(text, str) and text.strip():
            await self._submit(lambda: self.task.answer(event["questionId"], text))
        else:
            self.open_question = event["questionId"]
            self._resolve("end_turn")

    async def _offer(self, event: Json) -> None:
        choices = event["choices"]
        options = [{"optionId": str(n), "name": name, "kind": "allow_once"} for n, name in enumerate(choices)]
        call = {"toolCallId": event["questionId"], "title": event["text"], "kind": "other", "status": "pending"}
        chosen = await self._choose(call, options)
        if chosen is not None and chosen.isdecimal() and int(chosen) < len(choices):
            await self._submit(lambda: self.task.answer(event["questionId"], choices[int(chosen)]))

    async def _choose(self, call: Json, options: list[Json]) -> str | None:
        """The chosen option's id; None if the client cancelled or can't ask."""
        wanted = {"sessionId": self._session_id, "toolCall": call, "options": options}
        try:
            answer = await self._peer.request("session/request_permission", wanted)
        except RpcError as error:
            log.warning("The client can't ask for permission: %s", error)
            return None
        outcome = answer.get("outcome") if isinstance(answer, dict) else None
        return outcome.get("optionId") if isinstance(outcome, dict) and outcome.get("outcome") == "selected" else None

    async def _submit(self, send: Callable[[], None]) -> None:
        try:
            await asyncio.to_thread(send)
        except ClientError as error:  # such as a second answer
            log.info("The answer was refused: %s", error)


def _asked(event: Json, workspace: str, diffs: calls.Diffs) -> Json:
    """All of what is asked: the whole command with its directory, or the whole diff."""
    lines = [event["why"]]
    if argv := event.get("argv"):
        lines.append(f"```\n{calls.command_line(argv)}\n```")
        lines.append(f"in {event.get('cwd') or workspace}")
    if names := event.get("environment"):
        lines.append(f"with the environment variables {', '.join(names)}")
    diff = event.get("diff") or ""
    blocks = diffs(diff, workspace)
    if diff and not blocks:
        lines.append(f"```diff\n{diff}\n```")
    return {
        "toolCallId": event["callId"],
        "title": event["action"],
        "status": "pending",
        "content": [*blocks, {"type": "content", "content": calls.text_block("\n\n".join(lines))}],
        "rawInput": {name: event[name] for name in ("argv", "cwd", "environment") if event.get(name)},
    }
