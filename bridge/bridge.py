"""The bridge as the application and the executor see it. It loads the rest when the first shell connects.

Most starts never see a shell, and shouldn't pay for one. To the executor this is the backend `shell`, to the
application the WebSocket endpoint.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from sidecar.wire.base import JsonObject
from sidecar.wire.system import ShellState
from tools.errors import HostGone
from tools.host import Killed
from tools.spec import AnyTool, Call, Output, ToolResult

if TYPE_CHECKING:
    from bridge.backend import BridgeBackend
    from bridge.dispatcher import Dispatcher
    from bridge.server import BridgeServer


class Bridge:
    """Calls `changed` with the absolute path of every file that an editor reports as changed."""

    name = "shell"

    def __init__(self, *, reconnect_seconds: float, heartbeat_seconds: float, changed: Callable[[str], None]) -> None:
        self._reconnect_seconds = reconnect_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self._changed = changed
        self._dispatcher: Dispatcher | None = None
        self._backend: BridgeBackend | None = None
        self._server: BridgeServer | None = None

    # -- for the executor --------------------------------------------------------------------------------------------

    def offers(self, tool: str, workspace: str) -> bool:
        return self._backend is not None and self._backend.offers(tool, workspace)

    def remembers(self, call_id: str) -> bool:
        return self._backend is not None and self._backend.remembers(call_id)

    def session(self, tool: str, workspace: str) -> str | None:
        return None if self._backend is None else self._backend.session(tool, workspace)

    async def returned(self, call_id: str, tool: str, workspace: str, session: str | None) -> bool:
        return await self._load().returned(call_id, tool, workspace, session)

    def covers(self, tool: str, workspace: str, paths: Sequence[str]) -> bool:
        return self._backend is not None and self._backend.covers(tool, workspace, paths)

    async def refresh(self, tool: str, workspace: str, paths: Sequence[str]) -> None:
        if self._backend is not None:
            await self._backend.refresh(tool, workspace, paths)

    async def save(self, workspace: str, paths: Sequence[str]) -> bool:
        return self._backend is not None and await self._backend.save(workspace, paths)

    async def stop(self, command_id: str, workspace: str) -> Sequence[Killed]:
        return () if self._backend is None else await self._backend.stop(command_id, workspace)

    async def run(self, tool: AnyTool, args: JsonObject, call: Call, output: Output) -> ToolResult:
        if self._backend is None:
            raise HostGone(f"No desktop shell that offers {tool.spec.name} is connected.")
        return await self._backend.run(tool, args, call, output)

    # -- as a source of tools ----------------------------------------------------------------------------------------

    def find(self, name: str, workspace: str, conversation: str = "") -> AnyTool | None:
        return None if self._backend is None else self._backend.find(name, workspace)

    def tools(self, workspace: str, conversation: str = "") -> Sequence[AnyTool]:
        return () if self._backend is None else self._backend.tools(workspace)

    async def prepare(self, name: str, workspace: str, conversation: str = "") -> None:
        """What a shell has, it has said."""

    def start(self, workspace: str) -> None:
        """Shells connect by themselves."""

    # -- for the application -----------------------------------------------------------------------------------------

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._load()
        assert self._server is not None
        await self._server(scope, receive, send)

    def shells(self) -> list[ShellState]:
        if self._dispatcher is None:
            return []
        from bridge.session.sidecar import tool_names

        return [
            ShellState(
                name=session.hello.shell.name,
                version=session.hello.shell.version,
                workspace=session.hello.workspace,
                tools=tool_names(session.hello),
                connected=session.connected,
            )
            for session in self._dispatcher.sessions
        ]

    def limit_ending(self, seconds: float) -> None:
        """The sidecar shuts down: give a cancelled call only this long to confirm its end."""
        if self._dispatcher is not None:
            self._dispatcher.limit_ending(seconds)

    def _load(self) -> "BridgeBackend":
        if self._backend is None:
            from bridge.backend import BridgeBackend
            from bridge.dispatcher import Dispatcher
            from bridge.editor_state import EditorState
            from bridge.server import BridgeServer
            from bridge.session.sidecar import Sessions

            sessions = Sessions(reconnect_seconds=self._reconnect_seconds, heartbeat_seconds=self._heartbeat_seconds)
            self._dispatcher = Dispatcher(sessions, EditorState(self._changed))
            self._backend = BridgeBackend(self._dispatcher)
            self._server = BridgeServer(self._dispatcher)
        return self._backend
