"""The unsaved text of the editor's files. The sidecar asks for it over the bridge while a session of the workspace is
open."""

import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from sidecar.acp.peer import Editor
from sidecar.acp.rpc import RpcError
from tools.errors import ToolError

log = logging.getLogger(__name__)

Json = dict[str, Any]

#: Connects to the sidecar for a workspace, and asks these files, until it is closed.
Share = Callable[[str, "AcpFiles"], AbstractAsyncContextManager[object]]


class AcpFiles:
    """The files of one workspace, by absolute path; each request names a session that is open there.

    Raises `OSError` if the editor refuses, as a file would.
    """

    def __init__(self, peer: Editor, editor: str, sessions: list[str], *, writes: bool) -> None:
        #: What the editor calls itself.
        self.editor = editor
        self._peer = peer
        self._sessions = sessions
        self._writes = writes

    async def read(self, path: str) -> str:
        answer = await self._request("fs/read_text_file", {"path": path})
        text = answer.get("content") if isinstance(answer, dict) else None
        if not isinstance(text, str):
            raise OSError("the editor's answer holds no text")
        return text

    async def write(self, path: str, text: str) -> None:
        if not self._writes:
            raise OSError("it doesn't let agents save files")
        await self._request("fs/write_text_file", {"path": path, "content": text})

    async def _request(self, method: str, params: Json) -> Any:
        if not self._sessions:
            raise OSError("its session is closed")
        try:
            return await self._peer.request(method, {"sessionId": self._sessions[-1], **params})
        except RpcError as error:
            raise OSError(str(error)) from error


class SharedBuffers:
    def __init__(self, peer: Editor, share: Share | None) -> None:
        self._peer = peer
        self._share = share
        self._reads = self._writes = False
        self._editor = "the editor"
        self._sessions: dict[str, list[str]] = {}
        self._shared: dict[str, AbstractAsyncContextManager[object]] = {}

    def allow(self, capabilities: object, info: object) -> None:
        """The client's capability `fs`, and what it says about itself."""
        name = (info.get("title") or info.get("name")) if isinstance(info, dict) else None
        self._editor = name if isinstance(name, str) and name else self._editor
        offered = capabilities if isinstance(capabilities, dict) else {}
        self._reads, self._writes = offered.get("readTextFile") is True, offered.get("writeTextFile") is True

    async def open(self, session_id: str, workspace: str) -> None:
        if self._share is None or not self._reads:
            return
        sessions = self._sessions.setdefault(workspace, [])
        if session_id not in sessions:
            sessions.append(session_id)
        if workspace not in self._shared:
            files = AcpFiles(self._peer, self._editor, sessions, writes=self._writes)
            shared = self._share(workspace, files)
            try:
                await shared.__aenter__()
            except (OSError, ToolError) as error:
                log.warning("Unsaved text isn't used in %s: %s", workspace, error)
            else:
                self._shared[workspace] = shared

    async def close(self, session_id: str, workspace: str) -> None:
        sessions = self._sessions.get(workspace, [])
        if session_id in sessions:
            sessions.remove(session_id)
        if not sessions and workspace in self._shared:
            await self._shared.pop(workspace).__aexit__(None, None, None)
