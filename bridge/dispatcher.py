"""Sends calls to shells and waits for their ends: connects the sessions, which have no clock or socket, to asyncio."""

import asyncio
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from bridge.editor_state import EditorState
from bridge.session.protocol import Effect, Notified, Send, Settled, Streamed
from bridge.session.sidecar import Sessions, SidecarSession
from sidecar.wire.bridge import Hello, ToolCallFrame

log = logging.getLogger(__name__)


class Outlet(Protocol):
    """The sending side of one connection. Its calls never wait: too much data closes the connection."""

    def send(self, text: str) -> None: ...

    def close(self, reason: str) -> None: ...


class OutputListener(Protocol):
    def __call__(self, stream: str, text: str) -> None: ...


@dataclass(slots=True)
class _WaitingCall:
    settled: asyncio.Future[Settled]
    output: OutputListener


Ended = Callable[[Settled], None]


class Dispatcher:
    def __init__(self, sessions: Sessions, editor: EditorState) -> None:
        self.sessions = sessions
        self.editor = editor
        self._outlets: dict[str, Outlet] = {}
        self._waiting: dict[tuple[str, str], _WaitingCall] = {}
        self._arrivals: list[asyncio.Future[None]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._ending_seconds: float | None = None

    def limit_ending(self, seconds: float) -> None:
        """The sidecar shuts down: give a cancelled call only this long to confirm its end."""
        self._ending_seconds = seconds
        for session in self.sessions:
            session.ending_seconds = seconds

    # -- connections -------------------------------------------------------------------------------------------------

    def connect(self, hello: Hello, outlet: Outlet) -> SidecarSession:
        """Raises `TooManyShells`."""
        workspace = os.path.realpath(hello.workspace)
        session = self.sessions.resume(hello.model_copy(update={"workspace": workspace}))
        if self._ending_seconds is not None:
            session.ending_seconds = self._ending_seconds
        self.editor.forget_unsaved(workspace)
        earlier = self._outlets.pop(session.id, None)
        self._outlets[session.id] = outlet
        if earlier is not None:
            earlier.close("The shell connected again.")
        self._perform(session, session.connect(hello.model_copy(update={"workspace": workspace})))
        for arrived in self._arrivals:
            if not arrived.done():
                arrived.set_result(None)
        self._arrivals.clear()
        log.info("The shell %s connected for %s.", hello.shell.name, workspace)
        return session

    def receive(self, session: SidecarSession, outlet: Outlet, text: str) -> None:
        # The new connection repeats what a replaced one had in flight.
        if self._outlets.get(session.id) is outlet:
            self._perform(session, session.receive(text))

    def disconnect(self, session: SidecarSession, outlet: Outlet) -> None:
        if self._outlets.get(session.id) is outlet:
            del self._outlets[session.id]
            session.disconnect(self._now())
            self._set_timer(session.next_deadline())
            log.info("The shell %s disconnected.", session.hello.shell.name)

    async def arrival(self) -> None:
        """Wait for the next shell to connect."""
        arrived = asyncio.get_running_loop().create_future()
        self._arrivals.append(arrived)
        await arrived

    # -- calls -------------------------------------------------------------------------------------------------------

    async def call(
        self, session: SidecarSession, frame: ToolCallFrame, output: OutputListener, ended: Ended
    ) -> Settled:
        """Returns when the call ends. A cancel waits until the shell has ended it, then calls `ended`.

        Raises `BridgeError` if the call can't be sent.
        """
        now = self._now()
        effects = session.call(frame, now)
        key = (session.id, frame.id)
        waiting = self._waiting[key] = _WaitingCall(asyncio.get_running_loop().create_future(), output)
        self._perform(session, effects)
        self._set_timer(now + frame.timeout_ms / 1000)
        try:
            return await waiting.settled
        except asyncio.CancelledError:
            if session.has_open(frame.id):
                ended(await self._end(session, frame.id, waiting))
            raise
        finally:
            del self._waiting[key]

    async def _end(self, session: SidecarSession, call_id: str, waiting: _WaitingCall) -> Settled:
        waiting.settled = asyncio.get_running_loop().create_future()
        self._perform(session, session.cancel(call_id, self._now()))
        self._set_timer(self._now() + session.ending_seconds)
        while True:
            try:
                return await asyncio.shield(waiting.settled)
            except asyncio.CancelledError:
                # A second cancel doesn't make it faster: the session's own limit ends the wait.
                if waiting.settled.cancelled():
                    raise

    def _perform(self, session: SidecarSession, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Send(text):
                    outlet = self._outlets.get(session.id)
                    if outlet is not None:
                        outlet.send(text)
                case Settled(call_id):
                    waiting = self._waiting.get((session.id, call_id))
                    if waiting is not None and not waiting.settled.done():
                        waiting.settled.set_result(effect)
                case Streamed(call_id, stream, text):
                    waiting = self._waiting.get((session.id, call_id))
                    if waiting is not None:
                        waiting.output(stream, text)
                case Notified(frame):
                    self.editor.update(session.hello.workspace, frame)

    # -- time --------------------------------------------------------------------------------------------------------

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _set_timer(self, deadline: float | None) -> None:
        """One timer for all deadlines, and none while no call waits."""
        if deadline is None or (self._timer is not None and self._timer.when() <= deadline):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(deadline, self._expire)

    def _expire(self) -> None:
        self._timer = None
        now = self._now()
        for session in list(self.sessions):
            self._perform(session, session.expire(now))
        self.sessions.forget_gone(now)
        deadlines = [each for session in self.sessions if (each := session.next_deadline()) is not None]
        self._set_timer(min(deadlines, default=None))
