"""A session is a conversation in the journal; each prompt is a task in it, or steers the one that runs."""

import asyncio
import base64
import posixpath
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from sidecar.acp.modes import AUTOMATIC, BY_ID, DEFAULT_MODE
from sidecar.acp.peer import Editor
from sidecar.acp.rpc import INVALID_PARAMS, RpcError
from sidecar.acp.run import Run
from sidecar.acp.updates import Translator
from sidecar.client.follow import ENDED
from sidecar.client.service import BrainService, TaskHandle
from sidecar.engine.timeline import Rewind, Timeline

Json = dict[str, Any]

_PAGE = 1_000
TITLE_LIMIT = 80


class EditorPrompt(NamedTuple):
    text: str
    attachments: list[Json]


class AcpSession:
    def __init__(self, session_id: str, workspace: str, service: BrainService, peer: Editor, *, elicits: bool) -> None:
        self.id = session_id
        self.workspace = workspace
        self.mode = DEFAULT_MODE
        self.model = AUTOMATIC
        self.effort = AUTOMATIC
        #: The task that the first prompt of a forked session starts from.
        self.forked_from: str | None = None
        self._service = service
        self._peer = peer
        self._elicits = elicits
        self._run: Run | None = None
        self._lent = False

    async def prompt(self, prompt: EditorPrompt) -> str:
        """The stop reason."""
        run = self._run
        if run is not None and run.active:
            await run.send(prompt.text)
        else:
            run = self._run = self._watch(await asyncio.to_thread(self._execute, prompt))
            run.expect(prompt.text)
        return await asyncio.shield(run.stop)

    @property
    def active(self) -> bool:
        return self._run is not None and self._run.active

    async def cancel(self) -> None:
        if self._run is not None and self._run.active:
            await self._run.cancel()

    def lend(self, servers: Json) -> None:
        """Let the tasks of this session use the client's MCP servers."""
        body = {"session": self.id, "workspace": self.workspace, "servers": servers}
        self._service.post("/api/brain/mcp/session", body)
        self._lent = bool(servers)

    def take_back(self) -> None:
        if self._lent:
            self.lend({})

    def detach(self) -> None:
        if self._run is not None:
            self._run.detach()

    async def replay(self) -> None:
        """Send all that was streamed, then go on watching a task that still runs."""
        await self._reopen(self.update)

    async def watch_running(self) -> None:
        """Go on watching a task that still runs, without what it said before."""
        await self._reopen(lambda _: None)

    async def _reopen(self, show: Callable[[Json], None]) -> None:
        for task in await asyncio.to_thread(self._tasks):
            translator = Translator(self.workspace, replay=True, diffs=self._peer.diffs)
            events = await asyncio.to_thread(self._counting, task["id"])
            for event in events:
                for update in translator.translate(event):
                    show(update)
            await self._peer.drain()
            if task["status"] not in ENDED:
                self._run = self._watch(self._service.task(task["id"]), translator)
                self._run.ask_again(events)

    def update(self, update: Json) -> None:
        self._peer.notify("session/update", {"sessionId": self.id, "update": update})

    def _watch(self, task: TaskHandle, translator: Translator | None = None) -> Run:
        run = Run(self.id, self.workspace, self._service, task, self._peer, elicits=self._elicits)
        if translator is not None:
            translator.live()
            run.translator = translator
        return run

    def _execute(self, prompt: EditorPrompt) -> TaskHandle:
        mode = BY_ID[self.mode]
        options: Json = {"conversationId": self.id, "approvals": mode.approvals}
        options |= {"plan": True} if mode.plan else {}
        if self.model != AUTOMATIC:
            options["models"] = dict.fromkeys(("fast", "smart", "instant"), self.model)
        if self.effort != AUTOMATIC:
            options["effort"] = self.effort
        if self.forked_from is not None:
            body = {"task": prompt.text, "options": options, "keepFiles": True}
            forked = self._service.post(f"/api/brain/tasks/{self.forked_from}/fork", body)
            self.forked_from = None
            return self._service.task(forked["taskId"])
        context = {"attachments": prompt.attachments} if prompt.attachments else {}
        return self._service.execute(prompt.text, workspace=self.workspace, context=context, **options)

    def _tasks(self) -> list[Json]:
        """Oldest first."""
        return conversation(self._service, self.id)

    def _counting(self, task_id: str) -> list[Json]:
        """The task's durable events without those that a rewind took out."""
        events: list[Json] = []
        more = True
        while more:
            page = self._service.get(
                f"/api/brain/tasks/{task_id}/events", after=events[-1]["seq"] if events else 0, limit=_PAGE
            )
            events += page["events"]
            more = page["more"] and bool(page["events"])
        rewinds = [Rewind(event["rewoundTo"], event["seq"]) for event in events if event.get("rewoundTo") is not None]
        timeline = Timeline.of(rewinds)
        return [event for event in events if timeline.holds(event["seq"]) or event.get("rewoundTo") is not None]


def conversation(service: BrainService, session_id: str) -> list[Json]:
    """The tasks of a session, oldest first."""
    page = service.get("/api/brain/tasks", conversation=session_id, limit=200)
    tasks: list[Json] = page["tasks"]
    while page["nextBefore"]:
        page = service.get("/api/brain/tasks", conversation=session_id, limit=200, before=page["nextBefore"])
        tasks += page["tasks"]
    return tasks[::-1]


def title(task: str) -> str:
    first = task.strip().split("\n")[0]
    return first if len(first) <= TITLE_LIMIT else f"{first[: TITLE_LIMIT - 1]}…"


def parse_prompt(blocks: object, workspace: str) -> EditorPrompt:
    """Text is what you say. Files you name become mentions; embedded contents and images become attachments."""
    if not isinstance(blocks, list):
        raise RpcError(INVALID_PARAMS, "prompt is a list of content blocks.")
    words: list[str] = []
    attachments: list[Json] = []
    for block in blocks:
        match block:
            case {"type": "text", "text": str(text)}:
                words.append(text)
            case {"type": "image", "data": str(data), "mimeType": str(kind)}:
                name = f"image-{len(attachments) + 1}.{kind.rpartition('/')[2]}"
                attachments.append({"name": name, "mediaType": kind, "data": data})
            case {"type": "resource_link", "uri": str(uri)}:
                words.append(_mention(uri, workspace))
            case {"type": "resource", "resource": {"uri": str(uri)} as resource}:
                attachments.append(_embedded(uri, resource, workspace))
            case {"type": str(kind)}:
                raise RpcError(INVALID_PARAMS, f"Content of type {kind} is not supported.")
            case _:
                raise RpcError(INVALID_PARAMS, "A content block is an object with a type.")
    text = "".join(words).strip()
    if not text and not attachments:
        raise RpcError(INVALID_PARAMS, "The prompt is empty.")
    return EditorPrompt(text or "Look at the attachments.", attachments)


def _mention(uri: str, workspace: str) -> str:
    path = _path(uri, workspace)
    return uri if path is None else f"@{path}"


def _embedded(uri: str, resource: Json, workspace: str) -> Json:
    name = _path(uri, workspace) or uri
    if isinstance(text := resource.get("text"), str):
        kind = str(resource.get("mimeType") or "text/plain")
        return {"name": name, "mediaType": kind, "data": base64.b64encode(text.encode()).decode()}
    if isinstance(blob := resource.get("blob"), str):
        return {"name": name, "mediaType": str(resource.get("mimeType") or "application/octet-stream"), "data": blob}
    raise RpcError(INVALID_PARAMS, "An embedded resource has text or a blob.")


def _path(uri: str, workspace: str) -> str | None:
    """A file's path, relative if it is in the workspace; None for what isn't a file."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return None
    path = posixpath.normpath(unquote(parts.path))
    inside = path.startswith(workspace.rstrip("/") + "/")
    return posixpath.relpath(path, workspace) if inside else path
