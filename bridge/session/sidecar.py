"""The sidecar's side of the protocol: the open calls of each shell, across all its connections."""

import secrets
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bridge.session.protocol import (
    BadFrame,
    DuplicateCall,
    Effect,
    Notified,
    Send,
    Settled,
    Streamed,
    TooManyCalls,
    TooManyShells,
    encode_frame,
    error_frame,
    parse_shell_frame,
)
from sidecar.wire.base import ErrorBody
from sidecar.wire.bridge import (
    FRAME_LIMIT,
    CancelFrame,
    ErrorFrame,
    Hello,
    NotifyFrame,
    OpenCall,
    StreamFrame,
    ToolCallFrame,
    ToolResultFrame,
    Welcome,
)

MAX_OPEN = 256
MAX_SHELLS = 64
#: In characters: after a reconnect all open calls are sent again at once.
_MAX_OPEN_SIZE = 32 * 1024 * 1024
#: Ended calls to remember; an answer to any other call is an error.
_MAX_SETTLED = 4_096
#: The sidecar ends a call this long after the call's own time limit, which the shell enforces.
MARGIN_SECONDS = 2.0
#: Time for a shell to confirm that a call ended. With the margin it stays below what the executor allows beyond the
#: limit: only here can we tell a call that may have had effects from one that just took too long.
ENDING_SECONDS = 2.5


@dataclass(slots=True)
class _OpenCall:
    frame: ToolCallFrame
    text: str
    deadline: float
    #: Why it is being ended; the shell's answer is still awaited.
    ending: ErrorBody | None = None


def tool_names(hello: Hello) -> list[str]:
    """What the shell runs, whether it is ours or its own."""
    return [each if isinstance(each, str) else each.name for each in hello.tools]


class SidecarSession:
    """Every call ends exactly once, by `Settled`: with the shell's first answer, or without one."""

    def __init__(self, session_id: str, hello: Hello, *, reconnect_seconds: float, heartbeat_seconds: float) -> None:
        self.id = session_id
        self.hello = hello
        self.connected = False
        self.ending_seconds = ENDING_SECONDS
        self._tools = frozenset(tool_names(hello))
        self._remembered = frozenset(hello.remembers or ())
        self._reconnect = reconnect_seconds
        self._heartbeat = heartbeat_seconds
        self._away_until: float | None = None
        self._open: dict[str, _OpenCall] = {}
        #: Calls that ended while the shell was away; it may still run them.
        self._given_up: deque[str] = deque(maxlen=MAX_OPEN)
        self._size = 0
        self._settled: OrderedDict[str, None] = OrderedDict()

    def offers(self, tool: str) -> bool:
        return self.connected and tool in self._tools

    def remembers(self, call_id: str) -> bool:
        """Whether the shell would answer this call rather than run it again."""
        return call_id in self._settled or call_id in self._remembered or call_id in self._open

    def continue_call(self, call_id: str, session_id: str) -> None:
        """A shell that doesn't list what it remembers answers all calls of the session it resumes from its log."""
        if self.hello.session == session_id and self.hello.remembers is None:
            self._remembered |= {call_id}

    def has_open(self, call_id: str) -> bool:
        return call_id in self._open

    def next_deadline(self) -> float | None:
        deadlines = [each.deadline for each in self._open.values()]
        if self._away_until is not None:
            deadlines.append(self._away_until)
        return min(deadlines, default=None)

    @property
    def idle(self) -> bool:
        return not self.connected and not self._open

    def is_gone(self, now: float) -> bool:
        """Whether the shell has been away for too long."""
        return self._away_until is not None and now >= self._away_until

    def connect(self, hello: Hello) -> list[Effect]:
        """Send open calls again with the same ids, and cancel those given up meanwhile."""
        self.hello = hello
        self.connected = True
        self._away_until = None
        self._tools = frozenset(tool_names(hello))
        self._remembered = frozenset(hello.remembers or ())
        still_open = [each for each in self._open.values() if each.ending is None]
        welcome = Welcome(session=self.id, heartbeat_seconds=self._heartbeat, open=_list_calls(still_open))
        ending = [call_id for call_id, each in self._open.items() if each.ending is not None]
        cancelled = [CancelFrame(id=call_id) for call_id in (*ending, *self._given_up)]
        self._given_up.clear()
        return [
            Send(encode_frame(welcome)),
            *(Send(each.text) for each in still_open),
            *(Send(encode_frame(frame)) for frame in cancelled),
        ]

    def disconnect(self, now: float) -> None:
        """Calls stay open until the shell is back, or has been away for too long."""
        self.connected = False
        self._away_until = now + self._reconnect

    def call(self, frame: ToolCallFrame, now: float) -> list[Effect]:
        if frame.id in self._open:
            raise DuplicateCall(f"The call {frame.id} is open already.")
        if len(self._open) >= MAX_OPEN:
            raise TooManyCalls(f"The shell has {MAX_OPEN} open calls.")
        text = encode_frame(frame)
        if self._open and self._size + len(text) > _MAX_OPEN_SIZE:
            raise TooManyCalls("The shell's open calls are too large together.")
        self._size += len(text)
        self._open[frame.id] = _OpenCall(frame, text, now + frame.timeout_ms / 1000 + MARGIN_SECONDS)
        return [Send(text)] if self.connected else []

    def cancel(self, call_id: str, now: float) -> list[Effect]:
        """The call ends with the shell's answer, or without it when that takes too long."""
        return self._end(call_id, ErrorBody(code="cancelled", message="The call was cancelled."), now)

    def expire(self, now: float) -> list[Effect]:
        """End the calls whose time is up."""
        if self.is_gone(now):
            away = self._away()
            return [self._settle(call_id, None, each.ending or away) for call_id, each in list(self._open.items())]
        effects: list[Effect] = []
        for call_id, each in list(self._open.items()):
            if now < each.deadline:
                continue
            if each.ending is not None:
                effects.append(self._settle(call_id, None, each.ending))
            elif not self.connected:
                self._given_up.append(call_id)
                effects.append(self._settle(call_id, None, self._away()))
            else:
                limit = each.frame.timeout_ms / 1000
                message = f"{each.frame.tool} took longer than {limit:g} s in the shell."
                effects += self._end(call_id, ErrorBody(code="timed_out", message=message), now)
        return effects

    def receive(self, text: str) -> list[Effect]:
        frame = parse_shell_frame(text)
        match frame:
            case ToolResultFrame():
                return self._receive_answer(frame.id, frame)
            case StreamFrame():
                known = self._open.get(frame.id)
                if known is None:
                    return self._unknown_call(frame.id)
                return [Streamed(frame.id, frame.stream, frame.text)] if known.ending is None else []
            case ErrorFrame(id=None):
                return []  # about one of our own frames, and nothing here can fix it
            case ErrorFrame():
                return self._receive_answer(str(frame.id), frame)
            case NotifyFrame():
                return [Notified(frame)]
            case Hello():
                return [Send(encode_frame(error_frame("unexpected_hello", "This connection already said hello.")))]
            case BadFrame():
                return [Send(encode_frame(frame.answer))]

    def _away(self) -> ErrorBody:
        message = f"The shell {self.hello.shell.name} disconnected during the call and did not return in time."
        return ErrorBody(code="host_gone", message=message)

    def _receive_answer(self, call_id: str, frame: ToolResultFrame | ErrorFrame) -> list[Effect]:
        known = self._open.get(call_id)
        if known is None:
            return self._unknown_call(call_id)
        if isinstance(frame, ToolResultFrame):
            return [self._settle(call_id, frame, None)]  # even if it was being ended: it finished first
        return [self._settle(call_id, frame, known.ending or frame.error)]

    def _unknown_call(self, call_id: str) -> list[Effect]:
        """A reconnect may repeat an answer; an answer to a call that never was is an error."""
        if call_id in self._settled:
            return []
        return [Send(encode_frame(error_frame("unknown_call", "No such call is open in this session.", call_id)))]

    def _end(self, call_id: str, why: ErrorBody, now: float) -> list[Effect]:
        known = self._open.get(call_id)
        if known is None or known.ending is not None:
            return []
        known.ending = why
        known.deadline = now + self.ending_seconds
        return [Send(encode_frame(CancelFrame(id=call_id)))] if self.connected else []

    def _settle(self, call_id: str, frame: ToolResultFrame | ErrorFrame | None, error: ErrorBody | None) -> Settled:
        self._size -= len(self._open.pop(call_id).text)
        self._settled[call_id] = None
        while len(self._settled) > _MAX_SETTLED:
            self._settled.popitem(last=False)
        if isinstance(frame, ToolResultFrame):
            return Settled(call_id, frame.result, error, frame.result.killed or ())
        killed = frame.killed if isinstance(frame, ErrorFrame) else None
        return Settled(call_id, None, error, killed or (), answered=frame is not None)


class Sessions:
    """The sessions of all shells that are connected or may come back."""

    def __init__(
        self,
        *,
        reconnect_seconds: float = 30.0,
        heartbeat_seconds: float = 15.0,
        new_id: Callable[[], str] = lambda: secrets.token_urlsafe(18),
    ) -> None:
        self._reconnect = reconnect_seconds
        self._heartbeat = heartbeat_seconds
        self._new_id = new_id
        self._sessions: dict[str, SidecarSession] = {}

    def __iter__(self) -> Iterator[SidecarSession]:
        return iter(self._sessions.values())

    def __len__(self) -> int:
        return len(self._sessions)

    def resume(self, hello: Hello) -> SidecarSession:
        """The session that the shell names, if it is kept and has the same workspace; otherwise a new one."""
        known = self._sessions.get(hello.session or "")
        if known is None or known.hello.workspace != hello.workspace:
            self._make_room()
            known = SidecarSession(
                self._new_id(), hello, reconnect_seconds=self._reconnect, heartbeat_seconds=self._heartbeat
            )
        # The last one wins: of several shells on one workspace, the newest gets the calls.
        self._sessions.pop(known.id, None)
        self._sessions[known.id] = known
        return known

    def find_offering(self, tool: str, workspace: str) -> SidecarSession | None:
        for session in reversed(self._sessions.values()):
            if session.hello.workspace == workspace and session.offers(tool):
                return session
        return None

    def find_connected(self, workspace: str) -> SidecarSession | None:
        newest = reversed(self._sessions.values())
        return next((each for each in newest if each.connected and each.hello.workspace == workspace), None)

    def find_remembering(self, call_id: str) -> SidecarSession | None:
        return next((each for each in self if each.connected and each.remembers(call_id)), None)

    def forget_gone(self, now: float) -> None:
        """Call it after `expire`: no call waits for them any longer."""
        for session in [each for each in self if each.is_gone(now)]:
            del self._sessions[session.id]

    def _make_room(self) -> None:
        if len(self._sessions) < MAX_SHELLS:
            return
        idle = next((each for each in self if each.idle), None)
        if idle is None:
            raise TooManyShells(f"{MAX_SHELLS} shells are already connected.")
        del self._sessions[idle.id]


def _list_calls(calls: list[_OpenCall]) -> list[OpenCall]:
    """The calls that fit into one frame together; each is sent again in its own frame anyway."""
    listed, size = [], 0
    for each in calls:
        size += len(each.text)
        if size <= FRAME_LIMIT // 8:
            listed.append(OpenCall(**{name: getattr(each.frame, name) for name in OpenCall.model_fields}))
    return listed
