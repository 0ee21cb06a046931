"""The draft of ACP version 2, for editors that ask for it: the same agent with other messages.

A prompt is answered as soon as it is part of the conversation; `state_update`s report work, waiting and its end. Calls
are only ever updated, plans and commands have other shapes, modes are options, and `session/resume` replays.
"""

import asyncio
import posixpath
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from sidecar.acp.peer import Editor
from sidecar.acp.rpc import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from tools.errors import ToolError
from tools.patch import FilePatch, parse_patch

Json = dict[str, Any]
#: A method of version 1.
Call = Callable[[str, Json], Awaitable[Any]]

PROTOCOL_VERSION = 2
_GONE = frozenset({"authenticate", "session/load", "session/fork", "session/set_mode"})


class Version2Editor:
    """Translates the agent's messages of version 1 for an editor that speaks version 2."""

    echoes = True

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        #: Prompts that wait for their place in the conversation, by session.
        self._inserting: dict[str, asyncio.Future[str]] = {}

    def insertion(self, session_id: str) -> "asyncio.Future[str]":
        """The id of the next user message of this session."""
        future = self._inserting[session_id] = asyncio.get_running_loop().create_future()
        return future

    def state(self, session_id: str, state: str, **more: Any) -> None:
        self._send(session_id, {"sessionUpdate": "state_update", "state": state, **more})

    def notify(self, method: str, params: Json) -> None:
        session_id, update = params["sessionId"], params["update"]
        match update["sessionUpdate"]:
            case "user_message_chunk":
                content = [update["content"]]
                self._send(session_id, {**update, "sessionUpdate": "user_message", "content": content})
                if (waiting := self._inserting.pop(session_id, None)) is not None and not waiting.done():
                    waiting.set_result(update["messageId"])
            case "tool_call":
                self._send(session_id, {**update, "sessionUpdate": "tool_call_update"})
            case "plan":
                plan = {"type": "items", "planId": "plan", "entries": update["entries"]}
                self._send(session_id, {"sessionUpdate": "plan_update", "plan": plan})
            case "available_commands_update":
                commands = [command_of(each) for each in update["availableCommands"]]
                self._send(session_id, {**update, "availableCommands": commands})
            case "config_option_update":
                self._send(session_id, {**update, "configOptions": options_of(update["configOptions"])})
            case "current_mode_update":
                pass  # the mode is an option, whose update says it
            case _:
                self._send(session_id, update)

    async def request(self, method: str, params: Json) -> Any:
        if method == "session/request_permission":
            call = params["toolCall"]
            subject = {"type": "tool_call", "toolCall": call}
            params = {
                "sessionId": params["sessionId"],
                "title": call["title"],
                "subject": subject,
                "options": params["options"],
            }
        self.state(params["sessionId"], "requires_action")
        answer = await self._editor.request(method, params)
        self.state(params["sessionId"], "running")
        return answer

    async def drain(self) -> None:
        await self._editor.drain()

    def diffs(self, text: str, workspace: str) -> list[Json]:
        """A unified diff as changed files with one patch; nothing if it can't be read."""
        try:
            files = parse_patch(text)
        except ToolError:
            return []
        changes = [_change(file, workspace) for file in files]
        patch = "".join(_patch(file, workspace) for file in files)
        return [{"type": "diff", "changes": changes, "patch": {"format": "git_patch", "text": patch}}]

    def _send(self, session_id: str, update: Json) -> None:
        self._editor.notify("session/update", {"sessionId": session_id, "update": update})


class Version2Methods:
    """The methods of version 2 in terms of those of version 1."""

    def __init__(self, editor: Version2Editor, call: Call, is_active: Callable[[str], bool]) -> None:
        self._editor = editor
        self._call = call
        self._is_active = is_active
        self._turns: Counter[str] = Counter()
        self._watching: set[asyncio.Task[Any]] = set()

    async def handle(self, method: str, params: Json) -> object:
        match method:
            case "auth/login" | "auth/logout":
                return {}  # keys are the sidecar's business: `brain keys set`
            case "session/new":
                return _session(await self._call(method, params))
            case "session/resume":
                return await self._resume(params)
            case "session/prompt":
                return await self._prompt(params)
            case "session/set_config_option":
                if params.get("type") != "id":
                    raise RpcError(INVALID_PARAMS, "Options take a value of the type id.")
                return {"configOptions": options_of((await self._call(method, params))["configOptions"])}
            case _ if method in _GONE:
                raise RpcError(METHOD_NOT_FOUND, f"Version 2 has no method {method}.")
        return await self._call(method, params)

    async def _resume(self, params: Json) -> Json:
        replay = params.get("replayFrom")
        if replay is not None and replay.get("type") != "start":
            raise RpcError(INVALID_PARAMS, "A session is replayed from its start, or not at all.")
        resumed = await self._call("session/load" if replay else "session/resume", params)
        session_id = params["sessionId"]
        self._editor.state(session_id, "running" if self._is_active(session_id) else "idle")
        return _session(resumed)

    async def _prompt(self, params: Json) -> Json:
        session_id = str(params.get("sessionId"))
        inserted = self._editor.insertion(session_id)
        turn = asyncio.ensure_future(self._call("session/prompt", params))
        await asyncio.wait((turn, inserted), return_when=asyncio.FIRST_COMPLETED)
        if not inserted.done():
            turn.result()  # raises why it was rejected
            raise RpcError(INVALID_PARAMS, "The prompt was not taken.")
        self._turns[session_id] += 1
        self._editor.state(session_id, "running")
        watching = asyncio.create_task(self._report(session_id, turn))
        self._watching.add(watching)
        watching.add_done_callback(self._watching.discard)
        return {"messageId": inserted.result()}

    async def _report(self, session_id: str, turn: "asyncio.Future[Any]") -> None:
        """Say that the session is idle when the last of its prompts is done."""
        try:
            end = {"stopReason": (await turn)["stopReason"]}
        except RpcError as error:
            end = {"stopReason": "error", "error": {"code": error.code, "message": str(error)}}
        self._turns[session_id] -= 1
        if not self._turns[session_id]:
            self._editor.state(session_id, "idle", **end)


def initialized(version1: Json) -> Json:
    """The answer to `initialize`, from that of version 1."""
    prompt: Json = {"image": {}, "embeddedContext": {}}
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "info": version1["agentInfo"],
        "capabilities": {"session": {"prompt": prompt, "mcp": {"stdio": {}, "http": {}}}},
        "authMethods": [],
    }


def options_of(options: list[Json]) -> list[Json]:
    return [{"configId": each["id"], **{name: each[name] for name in each if name != "id"}} for each in options]


def command_of(command: Json) -> Json:
    given = {"type": "text", **command["input"]} if command.get("input") else None
    return {"type": "command", **command, "input": given}


def _session(version1: Json) -> Json:
    answer = {name: version1[name] for name in ("sessionId",) if name in version1}
    return {**answer, "configOptions": options_of(version1["configOptions"])}


def _change(file: FilePatch, workspace: str) -> Json:
    if file.source is None or file.target is None:
        operation = "add" if file.source is None else "delete"
        return {"operation": operation, "path": posixpath.join(workspace, file.path)}
    if file.source != file.target:
        paths = {"oldPath": posixpath.join(workspace, file.source), "path": posixpath.join(workspace, file.target)}
        return {"operation": "move", **paths}
    return {"operation": "modify", "path": posixpath.join(workspace, file.path)}


def _patch(file: FilePatch, workspace: str) -> str:
    """As Git prints it, with absolute paths."""
    old, new = (None if name is None else posixpath.join(workspace, name) for name in (file.source, file.target))
    lines = [f"diff --git {old or new} {new or old}"]
    if old is not None and new is not None and old != new:
        lines += [f"rename from {old}", f"rename to {new}"]
    if file.hunks:
        lines += [f"--- {old or '/dev/null'}", f"+++ {new or '/dev/null'}"]
    for hunk in file.hunks:
        heading = f" {hunk.heading}" if hunk.heading else ""
        lines += [f"@@ -{hunk.start},{len(hunk.old)} +{hunk.new_start},{len(hunk.new)} @@{heading}", *hunk.lines]
        if hunk.old_open or hunk.new_open:
            lines.append("\\ No newline at end of file")
    return "\n".join(lines) + "\n"
