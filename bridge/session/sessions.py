"""The shells that are connected, or may come back: each with its session and its workspace."""

import secrets
from collections.abc import Callable, Iterator

from bridge.session.errors import TooManyShells
from bridge.session.sidecar import SidecarSession
from sidecar.wire.bridge import Hello

MOST = 64


def _new_id() -> str:
    return secrets.token_urlsafe(18)


class Sessions:
    def __init__(
        self,
        *,
        reconnect_seconds: float = 30.0,
        heartbeat_seconds: float = 15.0,
        new_id: Callable[[], str] = _new_id,
    ) -> None:
        self._reconnect = reconnect_seconds
        self._heartbeat = heartbeat_seconds
        self._new_id = new_id
        self._sessions: dict[str, SidecarSession] = {}

    def __iter__(self) -> Iterator[SidecarSession]:
        return iter(self._sessions.values())

    def __len__(self) -> int:
        return len(self._sessions)

    def take_up(self, hello: Hello) -> SidecarSession:
        """The session that the shell names, if it is still kept and of the same workspace; else a new one."""
        known = self._sessions.pop(hello.session or "", None)
        if known is not None and known.hello.workspace != hello.workspace:
            self._sessions[known.id] = known
            known = None
        if known is None:
            self._make_room()
            known = SidecarSession(
                self._new_id(), hello, reconnect_seconds=self._reconnect, heartbeat_seconds=self._heartbeat
            )
        # Whoever came last stands last: of several shells on one workspace, the newest is asked.
        self._sessions[known.id] = known
        return known

    def offering(self, tool: str, workspace: str) -> SidecarSession | None:
        for session in reversed(self._sessions.values()):
            if session.hello.workspace == workspace and session.offers(tool):
                return session
        return None

    def connected_at(self, workspace: str) -> SidecarSession | None:
        return next(
            (
                each
                for each in reversed(self._sessions.values())
                if each.connected and each.hello.workspace == workspace
            ),
            None,
        )

    def remembering(self, call_id: str) -> SidecarSession | None:
        for session in self._sessions.values():
            if session.connected and session.remembers(call_id):
                return session
        return None

    def forget_gone(self, now: float) -> None:
        """After `expire`: nobody waits for them any longer."""
        for session in [each for each in self if each.gone(now)]:
            del self._sessions[session.id]

    def _make_room(self) -> None:
        if len(self._sessions) < MOST:
            return
        idle = next((each for each in self if each.idle), None)
        if idle is None:
            raise TooManyShells(f"{MOST} shells are connected already.")
        del self._sessions[idle.id]
