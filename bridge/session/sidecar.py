"""The sidecar's side of one shell: which calls are open, over all the connections that the shell makes."""

from collections import OrderedDict, deque
from dataclasses import dataclass

from bridge.session.effects import Effect, Notified, Send, Settled, Streamed
from bridge.session.errors import DuplicateCall, TooManyCalls
from bridge.session.frames import Bad, read_shell_frame, refusal, written
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
from sidecar.wire.events import ErrorBody

MOST_OPEN = 256
#: In characters: all of them come again at once after a reconnect, and must find room on the way.
MOST_OPEN_SIZE = 32 * 1024 * 1024
#: How many ended calls are told from calls that never were; the oldest are forgotten.
MOST_SETTLED = 4_096
#: Beyond a call's own time limit, which the shell keeps, before the sidecar ends it.
MARGIN_SECONDS = 2.0
#: How long a shell may take to say that a call is ended. Together with the margin less than what the executor allows
#: beyond the limit: it is here that a call that may have taken effect is told from one that just took too long.
ENDING_SECONDS = 2.5


@dataclass(slots=True)
class _Open:
    frame: ToolCallFrame
    text: str
    deadline: float
    #: Why it is being ended: the shell was told, or will be, and its last word is awaited.
    ending: ErrorBody | None = None


class SidecarSession:
    """Every call ends exactly once, by `Settled`: with the first answer that the shell gives, or without one."""

    def __init__(self, session_id: str, hello: Hello, *, reconnect_seconds: float, heartbeat_seconds: float) -> None:
        self.id = session_id
        self.hello = hello
        self.connected = False
        self.ending_seconds = ENDING_SECONDS
        self._tools = frozenset(hello.tools)
        self._remembered = frozenset(hello.remembers or ())
        self._reconnect = reconnect_seconds
        self._heartbeat = heartbeat_seconds
        self._away_until: float | None = None
        self._open: dict[str, _Open] = {}
        #: Ended while the shell was away; it may still be at them.
        self._given_up: deque[str] = deque(maxlen=MOST_OPEN)
        self._size = 0
        self._settled: OrderedDict[str, None] = OrderedDict()

    # -- what others ask of it ---------------------------------------------------------------------------------------

    def offers(self, tool: str) -> bool:
        return self.connected and tool in self._tools

    def remembers(self, call_id: str) -> bool:
        """Whether the shell would answer this call rather than run it again."""
        return call_id in self._settled or call_id in self._remembered or call_id in self._open

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

    def gone(self, now: float) -> bool:
        """The shell is away, and has been for longer than it may be."""
        return self._away_until is not None and now >= self._away_until

    # -- its connections ---------------------------------------------------------------------------------------------

    def greet(self, hello: Hello) -> list[Effect]:
        """A connection begins. What is open comes again with the same id; what was given up meanwhile is called off."""
        self.hello = hello
        self.connected = True
        self._away_until = None
        self._tools = frozenset(hello.tools)
        self._remembered = frozenset(hello.remembers or ())
        still_open = [each for each in self._open.values() if each.ending is None]
        welcome = Welcome(session=self.id, heartbeat_seconds=self._heartbeat, open=_listed(still_open))
        ending = [call_id for call_id, each in self._open.items() if each.ending is not None]
        called_off = [CancelFrame(id=call_id) for call_id in (*ending, *self._given_up)]
        self._given_up.clear()
        return [
            Send(written(welcome)),
            *(Send(each.text) for each in still_open),
            *(Send(written(frame)) for frame in called_off),
        ]

    def lost(self, now: float) -> None:
        """The connection ended; its calls stay open until the shell is back, or has been away for too long."""
        self.connected = False
        self._away_until = now + self._reconnect

    # -- its calls ---------------------------------------------------------------------------------------------------

    def call(self, frame: ToolCallFrame, now: float) -> list[Effect]:
        if frame.id in self._open:
            raise DuplicateCall(f"The call {frame.id} is open already.")
        if len(self._open) >= MOST_OPEN:
            raise TooManyCalls(f"The shell has {MOST_OPEN} open calls.")
        text = written(frame)
        self._size += len(text)
        if self._open and self._size > MOST_OPEN_SIZE:
            self._size -= len(text)
            raise TooManyCalls("The shell's open calls are too large together.")
        self._open[frame.id] = _Open(frame, text, now + frame.timeout_ms / 1000 + MARGIN_SECONDS)
        return [Send(text)] if self.connected else []

    def cancel(self, call_id: str, now: float) -> list[Effect]:
        """The shell is told; the call ends with its answer, or without it when that takes too long."""
        return self._end(call_id, ErrorBody(code="cancelled", message="The call was cancelled."), now)

    def expire(self, now: float) -> list[Effect]:
        """What the passing of time does."""
        if self.gone(now):
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
        frame = read_shell_frame(text)
        match frame:
            case ToolResultFrame():
                return self._answered(frame.id, frame)
            case StreamFrame():
                known = self._open.get(frame.id)
                if known is None:
                    return self._foreign(frame.id)
                return [Streamed(frame.id, frame.stream, frame.text)] if known.ending is None else []
            case ErrorFrame(id=None):
                return []  # about one of our own frames: nothing that could be mended from here
            case ErrorFrame():
                return self._answered(str(frame.id), frame)
            case NotifyFrame():
                return [Notified(frame)]
            case Hello():
                return [Send(written(refusal("unexpected_hello", "This connection has said hello already.")))]
            case Bad():
                return [Send(written(frame.answer))]

    def _away(self) -> ErrorBody:
        message = f"The shell {self.hello.shell.name} went away during the call and did not return in time."
        return ErrorBody(code="host_gone", message=message)

    def _answered(self, call_id: str, frame: ToolResultFrame | ErrorFrame) -> list[Effect]:
        known = self._open.get(call_id)
        if known is None:
            return self._foreign(call_id)
        if isinstance(frame, ToolResultFrame):
            return [self._settle(call_id, frame, None)]  # also of a call that was being ended: it came to its end first
        return [self._settle(call_id, frame, known.ending or frame.error)]

    def _foreign(self, call_id: str) -> list[Effect]:
        """A second answer is what a reconnect makes, and is passed over; an answer that nobody asked for is not."""
        if call_id in self._settled:
            return []
        return [Send(written(refusal("unknown_call", "No such call is open in this session.", call_id)))]

    def _end(self, call_id: str, why: ErrorBody, now: float) -> list[Effect]:
        known = self._open.get(call_id)
        if known is None or known.ending is not None:
            return []
        known.ending = why
        known.deadline = now + self.ending_seconds
        return [Send(written(CancelFrame(id=call_id)))] if self.connected else []

    def _settle(self, call_id: str, frame: ToolResultFrame | ErrorFrame | None, error: ErrorBody | None) -> Settled:
        self._size -= len(self._open.pop(call_id).text)
        self._settled[call_id] = None
        while len(self._settled) > MOST_SETTLED:
            self._settled.popitem(last=False)
        if isinstance(frame, ToolResultFrame):
            return Settled(call_id, frame.result, error, frame.result.killed or ())
        killed = frame.killed if isinstance(frame, ErrorFrame) else None
        return Settled(call_id, None, error, killed or (), answered=frame is not None)


def _listed(calls: list[_Open]) -> list[OpenCall]:
    """As many as fit into one frame beside each other; each comes again in a frame of its own anyway."""
    listed, size = [], 0
    for each in calls:
        size += len(each.text)
        if size <= FRAME_LIMIT // 8:
            listed.append(_plain(each.frame))
    return listed


def _plain(frame: ToolCallFrame) -> OpenCall:
    return OpenCall(
        id=frame.id,
        tool=frame.tool,
        args=frame.args,
        timeout_ms=frame.timeout_ms,
        workspace=frame.workspace,
        approved=frame.approved,
    )
