"""The shell's side of the protocol: the calls it runs and its answers, across reconnects. No call runs twice."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pydantic_core import to_json

from bridge.session.protocol import (
    BadFrame,
    FrameTooLarge,
    RunCall,
    Send,
    ShellEffect,
    StopCall,
    Welcomed,
    encode_frame,
    error_frame,
    parse_sidecar_frame,
)
from sidecar.wire.base import ErrorBody
from sidecar.wire.bridge import (
    CancelFrame,
    EndedProcess,
    ErrorFrame,
    Hello,
    NotifyFrame,
    OpenCall,
    ResultBody,
    ShellInfo,
    StreamFrame,
    ToolCallFrame,
    ToolResultFrame,
    Welcome,
)

_MAX_RUNNING = 256
_MAX_ANSWERS = 1_000
_MAX_ANSWER_BYTES = 64 * 1024 * 1024
#: Ids of dropped answers are kept longer: "I no longer know" is better than running a call twice.
_MAX_DROPPED = 20_000
#: The fingerprint of a call that was cancelled before it arrived: it never runs.
_CANCELLED = 0
_ANSWER_DROPPED = "This call has run; its answer is no longer kept."


@dataclass(slots=True)
class LoggedCall:
    #: Distinguishes the call from another one with the same id.
    fingerprint: int
    #: The frame that answered it; `None` while it runs.
    answer: str | None = None


class ResultLog:
    """Answers by call id, for a sidecar that asks again after a reconnect."""

    def __init__(self, most: int = _MAX_ANSWERS, most_bytes: int = _MAX_ANSWER_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._calls: OrderedDict[str, LoggedCall] = OrderedDict()
        self._dropped: OrderedDict[str, None] = OrderedDict()
        self._bytes = 0
        self.running = 0

    def __iter__(self) -> Iterator[str]:
        return iter(self._calls)

    def get(self, call_id: str) -> LoggedCall | None:
        return self._calls.get(call_id)

    def is_dropped(self, call_id: str) -> bool:
        return call_id in self._dropped

    def begin(self, call_id: str, fingerprint: int) -> None:
        self._calls[call_id] = LoggedCall(fingerprint)
        self.running += 1

    def answer(self, call_id: str, text: str) -> bool:
        """False if the call isn't running: it keeps its first answer."""
        call = self._calls.get(call_id)
        if call is None or call.answer is not None:
            return False
        call.answer = text
        self.running -= 1
        self._bytes += len(text)
        self._calls.move_to_end(call_id)
        while len(self._calls) - self.running > self._most or self._bytes > self._most_bytes:
            self._drop_oldest()
        return True

    def _drop_oldest(self) -> None:
        call_id = next(call_id for call_id, call in self._calls.items() if call.answer is not None)
        self._bytes -= len(self._calls.pop(call_id).answer or "")
        self._dropped[call_id] = None
        if len(self._dropped) > _MAX_DROPPED:
            self._dropped.popitem(last=False)


class ShellSession:
    def __init__(self, shell: ShellInfo, workspace: str, tools: Iterable[str], log: ResultLog | None = None) -> None:
        self.id: str | None = None
        self.connected = False
        self._shell = shell
        self._workspace = workspace
        self._tools = sorted(tools)
        self._log = log or ResultLog()
        #: Calls of the welcome: each comes again in its own frame, which is skipped.
        self._repeated: set[str] = set()

    def hello(self) -> str:
        """The first frame of a connection."""
        frame = Hello(
            shell=self._shell,
            workspace=self._workspace,
            tools=[*self._tools],
            session=self.id,
            remembers=list(self._log) or None,
        )
        return encode_frame(frame)

    def disconnect(self) -> None:
        self.connected = False
        self._repeated.clear()

    def receive(self, text: str) -> list[ShellEffect]:
        frame = parse_sidecar_frame(text)
        match frame:
            case ToolCallFrame():
                if frame.id in self._repeated:
                    self._repeated.discard(frame.id)
                    return []
                return self._call(frame)
            case CancelFrame():
                return self._cancel(frame.id)
            case Welcome():
                return self._welcome(frame)
            case ErrorFrame():
                return []
            case BadFrame():
                return [Send(encode_frame(frame.answer))]

    def result(self, call_id: str, body: ResultBody) -> list[ShellEffect]:
        try:
            return self._answer(call_id, encode_frame(ToolResultFrame(id=call_id, result=body)))
        except FrameTooLarge as error:
            message = f"The result does not fit into a frame. {error} Ask for less."
            return self.error(call_id, ErrorBody(code="too_large", message=message), body.killed or ())

    def error(self, call_id: str, error: ErrorBody, killed: Iterable[EndedProcess] = ()) -> list[ShellEffect]:
        return self._answer(call_id, encode_frame(ErrorFrame(id=call_id, error=error, killed=list(killed) or None)))

    def stream(self, call_id: str, stream: str, text: str) -> list[ShellEffect]:
        """Live output only; the result holds it anyway."""
        call = self._log.get(call_id)
        if not self.connected or call is None or call.answer is not None:
            return []
        name = StreamFrame(id=call_id, stream="stderr" if stream == "stderr" else "stdout", text=text)
        return [Send(encode_frame(name))]

    def notify(self, frame: NotifyFrame) -> list[ShellEffect]:
        return [Send(encode_frame(frame))] if self.connected else []

    def _welcome(self, frame: Welcome) -> list[ShellEffect]:
        self.id = frame.session
        self.connected = True
        effects: list[ShellEffect] = [Welcomed(frame)]
        for call in frame.open:
            effects += self._call(call)
            self._repeated.add(call.id)
        return effects

    def _call(self, call: OpenCall) -> list[ShellEffect]:
        fingerprint = hash((call.tool, to_json(call.args)))
        known = self._log.get(call.id)
        if known is not None and known.fingerprint not in (_CANCELLED, fingerprint):
            return _refuse(call.id, "id_reused", "Another call had this id. An id always names the same call.")
        if known is not None:
            return [Send(known.answer)] if known.answer is not None else []
        if self._log.is_dropped(call.id):
            return _refuse(call.id, "answer_dropped", _ANSWER_DROPPED)
        if self._log.running >= _MAX_RUNNING:
            return _refuse(call.id, "busy", f"The shell already runs {_MAX_RUNNING} calls.")
        self._log.begin(call.id, fingerprint)
        return [RunCall(call)]

    def _cancel(self, call_id: str) -> list[ShellEffect]:
        known = self._log.get(call_id)
        if known is not None:
            return [StopCall(call_id)] if known.answer is None else [Send(known.answer)]
        if self._log.is_dropped(call_id):
            return _refuse(call_id, "answer_dropped", _ANSWER_DROPPED)
        # The cancel overtook the call: if that still arrives, it must not run.
        self._log.begin(call_id, _CANCELLED)
        return self.error(call_id, ErrorBody(code="cancelled", message="Cancelled before it began."))

    def _answer(self, call_id: str, text: str) -> list[ShellEffect]:
        return [Send(text)] if self._log.answer(call_id, text) and self.connected else []


def _refuse(call_id: str, code: str, message: str) -> list[ShellEffect]:
    return [Send(encode_frame(error_frame(code, message, call_id)))]
