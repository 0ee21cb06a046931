"""The methods of an ACP agent. Sessions are conversations in the journal of one sidecar.

They are those of protocol version 1; `version2.py` puts version 2 on top of them.
"""

import asyncio
import posixpath
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

from sidecar import __version__
from sidecar.acp.buffers import Share, SharedBuffers
from sidecar.acp.modes import AUTOMATIC, BY_ID, EFFORTS, config_options, mode_state
from sidecar.acp.peer import Editor
from sidecar.acp.rpc import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, NOT_FOUND, RpcError
from sidecar.acp.session import AcpSession, conversation, parse_prompt, title
from sidecar.acp.version2 import Version2Editor, Version2Methods, initialized
from sidecar.client.errors import ClientError
from sidecar.client.service import BrainService
from sidecar.wire.intents import SLASH_COMMANDS

Json = dict[str, Any]

PROTOCOL_VERSION = 1
MAX_LISTED_TASKS = 2_000


def parse_servers(servers: object) -> dict[str, Json]:
    """The MCP servers that a client lends to a session, as entries of `mcp.json` by name.

    Raises `RpcError` for a server that can't be used at all.
    """
    if not isinstance(servers, list):
        raise RpcError(INVALID_PARAMS, "mcpServers is a list.")
    return dict(_parse(server) for server in servers)


def _parse(server: object) -> tuple[str, Json]:
    match server:
        case {"type": "http", "name": str(name), "url": str(url), **rest}:
            return name, {"type": "http", "url": url, "headers": _pairs(rest.get("headers"))}
        case {"name": str(name), "command": str(command), **rest} if rest.get("type", "stdio") == "stdio":
            words = rest.get("args") or []
            return name, {"command": command, "args": words, "env": _pairs(rest.get("env"))}
    raise RpcError(INVALID_PARAMS, "An MCP server has a name and a command, or the type http and a url.")


def _pairs(listed: object) -> dict[str, str]:
    """`[{name, value}]` as a mapping."""
    if not isinstance(listed, list):
        return {}
    return {
        str(each["name"]): str(each["value"])
        for each in listed
        if isinstance(each, dict) and {"name", "value"} <= each.keys()
    }


class AcpAgent:
    """`connect` finds or starts the sidecar; it blocks, and runs when the first session needs it. `share` lets the
    sidecar ask for the editor's unsaved text."""

    def __init__(self, peer: Editor, connect: Callable[[], BrainService], share: Share | None = None) -> None:
        self._peer = peer
        self._connect = connect
        self._buffers = SharedBuffers(peer, share)
        self._service: BrainService | None = None
        self._connecting = asyncio.Lock()
        self._sessions: dict[str, AcpSession] = {}
        self._elicits = False
        self._version2: Version2Methods | None = None
        self._methods: dict[str, Callable[[Json], Awaitable[object]]] = {
            "initialize": self._initialize,
            "authenticate": self._authenticate,
            "session/new": self._new,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/list": self._list,
            "session/fork": self._fork,
            "session/close": self._close,
            "session/prompt": self._prompt,
            "session/cancel": self._cancel,
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_config_option,
        }

    async def handle(self, method: str, params: Json) -> object:
        if self._version2 is not None and method != "initialize":
            return await self._version2.handle(method, params)
        return await self._call(method, params)

    async def _call(self, method: str, params: Json) -> Any:
        run = self._methods.get(method)
        if run is None:
            raise RpcError(METHOD_NOT_FOUND, f"Unknown method {method}.")
        try:
            return await run(params)
        except ClientError as error:
            raise RpcError(INTERNAL_ERROR, str(error)) from error

    def detach(self) -> None:
        """The client is gone; tasks go on, and `session/load` shows them again."""
        for session in self._sessions.values():
            session.detach()

    # -- one method per call ------------------------------------------------------------------------------------------

    async def _initialize(self, params: Json) -> Json:
        version2 = isinstance(version := params.get("protocolVersion"), int) and version > PROTOCOL_VERSION
        capabilities = params.get("capabilities" if version2 else "clientCapabilities") or {}
        self._elicits = "form" in (capabilities.get("elicitation") or {})
        self._buffers.allow({} if version2 else capabilities.get("fs"), params.get("clientInfo"))
        if version2 and self._version2 is None:
            editor = self._peer = Version2Editor(self._peer)
            self._version2 = Version2Methods(editor, self._call, lambda known: self._sessions[known].active)
        answer = self._version1()
        return initialized(answer) if version2 else answer

    def _version1(self) -> Json:
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "agentInfo": {"name": "rainy-brain", "title": "Rainy Brain", "version": __version__},
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
                "mcpCapabilities": {"http": True, "sse": False},
                "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "fork": {}},
            },
            "authMethods": [],
        }

    async def _authenticate(self, _: Json) -> Json:
        return {}  # keys are the sidecar's business: `brain keys set`

    async def _new(self, params: Json) -> Json:
        session = await self._open(f"c_{secrets.token_hex(10)}", params)
        return {"sessionId": session.id, **await self._state(session)}

    async def _load(self, params: Json) -> Json:
        session = await self._reopen(params)
        await session.replay()
        return await self._state(session)

    async def _resume(self, params: Json) -> Json:
        session = await self._reopen(params)
        await session.watch_running()
        return await self._state(session)

    async def _fork(self, params: Json) -> Json:
        known = _text(params, "sessionId")
        service = await self._sidecar()
        tasks = await asyncio.to_thread(conversation, service, known)
        session = await self._open(f"c_{secrets.token_hex(10)}", params)
        session.forked_from = tasks[-1]["id"] if tasks else None
        return {"sessionId": session.id, **await self._state(session)}

    async def _list(self, params: Json) -> Json:
        service = await self._sidecar()
        tasks: list[Json] = []
        before = None
        while len(tasks) < MAX_LISTED_TASKS:
            page = await asyncio.to_thread(service.get, "/api/brain/tasks", limit=200, before=before)
            tasks += page["tasks"]
            if (before := page["nextBefore"]) is None:
                break
        cwd = params.get("cwd")
        found: dict[str, Json] = {}
        for task in tasks:
            if cwd and task["workspace"] != posixpath.normpath(cwd):
                continue
            fresh = {"sessionId": task["conversationId"], "cwd": task["workspace"], "updatedAt": task["createdAt"]}
            # Newest first: the last one seen is the first of its conversation.
            found.setdefault(task["conversationId"], fresh)["title"] = title(task["task"])
        return {"sessions": list(found.values())}

    async def _close(self, params: Json) -> Json:
        session = self._sessions.pop(_text(params, "sessionId"), None)
        if session is not None:
            await session.cancel()
            await self._buffers.close(session.id, session.workspace)
            await asyncio.to_thread(session.take_back)
        return {}

    async def _prompt(self, params: Json) -> Json:
        session = self._session(params)
        return {"stopReason": await session.prompt(parse_prompt(params.get("prompt"), session.workspace))}

    async def _cancel(self, params: Json) -> None:
        await self._session(params).cancel()

    async def _set_mode(self, params: Json) -> Json:
        session, mode = self._session(params), _text(params, "modeId")
        _choose_mode(session, mode)
        session.update({"sessionUpdate": "config_option_update", "configOptions": await self._options(session)})
        return {}

    async def _set_config_option(self, params: Json) -> Json:
        session, value = self._session(params), _text(params, "value")
        match _text(params, "configId"):
            case "mode":
                _choose_mode(session, value)
                session.update({"sessionUpdate": "current_mode_update", "currentModeId": value})
            case "model" if value == AUTOMATIC or value in await self._models():
                session.model = value
            case "effort" if value == AUTOMATIC or value in EFFORTS:
                session.effort = value
            case name:
                raise RpcError(INVALID_PARAMS, f"{name} can't be set to {value}.")
        return {"configOptions": await self._options(session)}

    # -----------------------------------------------------------------------------------------------------------------

    async def _sidecar(self) -> BrainService:
        async with self._connecting:
            if self._service is None:
                self._service = await asyncio.to_thread(self._connect)
        return self._service

    async def _open(self, session_id: str, params: Json) -> AcpSession:
        workspace = _text(params, "cwd")
        if not posixpath.isabs(workspace):
            raise RpcError(INVALID_PARAMS, f"cwd is an absolute path, not {workspace}.")
        service = await self._sidecar()
        if session_id in self._sessions:
            self._sessions[session_id].detach()
        session = AcpSession(session_id, posixpath.normpath(workspace), service, self._peer, elicits=self._elicits)
        if servers := parse_servers(params.get("mcpServers") or []):
            await asyncio.to_thread(session.lend, servers)
        self._sessions[session_id] = session
        await self._buffers.open(session.id, session.workspace)
        return session

    async def _reopen(self, params: Json) -> AcpSession:
        session_id = _text(params, "sessionId")
        if not await asyncio.to_thread(conversation, await self._sidecar(), session_id):
            raise RpcError(NOT_FOUND, f"There is no session {session_id}.")
        return await self._open(session_id, params)

    def _session(self, params: Json) -> AcpSession:
        session_id = _text(params, "sessionId")
        if session_id not in self._sessions:
            raise RpcError(NOT_FOUND, f"There is no open session {session_id}; load it first.")
        return self._sessions[session_id]

    async def _state(self, session: AcpSession) -> Json:
        options = await self._options(session)
        commands = [
            {"name": name, "description": command.hint, "input": {"hint": "what to do"}}
            for name, command in SLASH_COMMANDS.items()
            if command.hint
        ]
        # Runs after this method's answer is written: before it, a client doesn't know a new session.
        update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
        asyncio.get_running_loop().call_soon(session.update, update)
        return {"modes": mode_state(session.mode), "configOptions": options}

    async def _options(self, session: AcpSession) -> list[Json]:
        return config_options(session.mode, session.model, session.effort, await self._models())

    async def _models(self) -> list[str]:
        service = await self._sidecar()
        listed = await asyncio.to_thread(service.get, "/api/brain/models")
        return [model["name"] for model in listed["models"] if model["available"]]


def _text(params: Json, name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise RpcError(INVALID_PARAMS, f"{name} is missing.")
    return value


def _choose_mode(session: AcpSession, mode: str) -> None:
    if mode not in BY_ID:
        raise RpcError(INVALID_PARAMS, f"There is no mode {mode}; the modes are {', '.join(BY_ID)}.")
    session.mode = mode
