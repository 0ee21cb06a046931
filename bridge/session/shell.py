"""The shell's side: which calls it runs and what it answered, over all its connections. No call is run twice."""

from collections.abc import Iterable

from pydantic_core import to_json

from bridge.session.effects import Run, Send, ShellEffect, Stop, Welcomed
from bridge.session.errors import FrameTooLarge
from bridge.session.frames import Bad, read_sidecar_frame, refusal, written
from bridge.session.log import CALLED_OFF, ResultLog
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
from sidecar.wire.events import ErrorBody

MOST_RUNNING = 256


class ShellSession:
    def __init__(self, shell: ShellInfo, workspace: str, tools: Iterable[str], log: ResultLog | None = None) -> None:
        self.id: str | None = None
        self.connected = False
        self._shell = shell
        self._workspace = workspace
        self._tools = sorted(tools)
        self._log = log or ResultLog()
        #: Answered as part of a welcome, on this connection: the frame that follows is the same question.
        self._repeated: set[str] = set()

    # -- its connections ---------------------------------------------------------------------------------------------

    def hello(self) -> str:
        """The first frame of a connection."""
        frame = Hello(
            shell=self._shell,
            workspace=self._workspace,
            tools=self._tools,
            session=self.id,
            remembers=list(self._log) or None,
        )
        return written(frame)

    def lost(self) -> None:
        self.connected = False
        self._repeated.clear()

    def receive(self, text: str) -> list[ShellEffect]:
        frame = read_sidecar_frame(text)
        match frame:
            case ToolCallFrame():
                if frame.id in self._repeated:
                    self._repeated.discard(frame.id)
                    return []
                return self._called(frame)
            case CancelFrame():
                return self._cancelled(frame.id)
            case Welcome():
                return self._welcomed(frame)
            case ErrorFrame():
                return []
            case Bad():
                return [Send(written(frame.answer))]

    # -- what it says ------------------------------------------------------------------------------------------------

    def result(self, call_id: str, body: ResultBody) -> list[ShellEffect]:
        try:
            return self._answer(call_id, written(ToolResultFrame(id=call_id, result=body)))
        except FrameTooLarge as error:
            message = f"The result does not fit into a frame. {error} Ask for less."
            return self.error(call_id, ErrorBody(code="too_large", message=message), body.killed or ())

    def error(self, call_id: str, error: ErrorBody, killed: Iterable[EndedProcess] = ()) -> list[ShellEffect]:
        return self._answer(call_id, written(ErrorFrame(id=call_id, error=error, killed=list(killed) or None)))

    def stream(self, call_id: str, stream: str, text: str) -> list[ShellEffect]:
        """Live only: what nobody hears now is in the result anyway."""
        entry = self._log.get(call_id)
        if not self.connected or entry is None or entry.answer is not None:
            return []
        name = StreamFrame(id=call_id, stream="stderr" if stream == "stderr" else "stdout", text=text)
        return [Send(written(name))]

    def notify(self, frame: NotifyFrame) -> list[ShellEffect]:
        return [Send(written(frame))] if self.connected else []

    # -- what it hears -----------------------------------------------------------------------------------------------

    def _welcomed(self, frame: Welcome) -> list[ShellEffect]:
        self.id = frame.session
        self.connected = True
        effects: list[ShellEffect] = [Welcomed(frame)]
        for call in frame.open:
            effects += self._called(call)
            self._repeated.add(call.id)
        return effects

    def _called(self, call: OpenCall) -> list[ShellEffect]:
        mark = hash((call.tool, to_json(call.args)))
        entry = self._log.get(call.id)
        if entry is not None and entry.mark not in (CALLED_OFF, mark):
            return self._refuse(call.id, "id_reused", "Another call had this id. An id names one call for good.")
        if entry is not None:
            return [Send(entry.answer)] if entry.answer is not None else []
        if self._log.dropped(call.id):
            return self._refuse(call.id, "answer_dropped", "This call was carried out; its answer is no longer kept.")
        if self._log.running >= MOST_RUNNING:
            return self._refuse(call.id, "busy", f"The shell runs {MOST_RUNNING} calls already.")
        self._log.begin(call.id, mark)
        return [Run(call)]

    def _cancelled(self, call_id: str) -> list[ShellEffect]:
        entry = self._log.get(call_id)
        if entry is not None:
            return [Stop(call_id)] if entry.answer is None else [Send(entry.answer)]
        if self._log.dropped(call_id):
            return self._refuse(call_id, "answer_dropped", "This call was carried out; its answer is no longer kept.")
        # It was called off before it came here: should it still come, it is not run.
        self._log.begin(call_id, CALLED_OFF)
        return self.error(call_id, ErrorBody(code="cancelled", message="Cancelled before it began."))

    def _answer(self, call_id: str, text: str) -> list[ShellEffect]:
        return [Send(text)] if self._log.answer(call_id, text) and self.connected else []

    def _refuse(self, call_id: str, code: str, message: str) -> list[ShellEffect]:
        return [Send(written(refusal(code, message, call_id)))]
