"""Both sides with a bad line between them: whatever is lost, repeated or late, each call is carried out once."""

from collections import deque

from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.session.protocol import RunCall, Send, Settled, StopCall
from bridge.session.shell import ShellSession
from bridge.session.sidecar import Sessions
from sidecar.wire.bridge import Hello, ResultBody, ShellInfo
from tests.unit.bridge.frames import call, hello

STEPS = st.lists(
    st.sampled_from(["call", "deliver", "answer", "drop", "repeat", "cancel", "foreign", "wait"]), max_size=60
)


class BadLine:
    """A sidecar's session and a shell's, and the frames between them, in two queues that a drop empties."""

    def __init__(self) -> None:
        self.sessions = Sessions(reconnect_seconds=1_000.0)
        self.sidecar = self.sessions.resume(hello())
        self.shell = ShellSession(ShellInfo(name="test", version="1"), "/w", ["read_file"])
        self.to_shell: deque[str] = deque()
        self.to_sidecar: deque[str] = deque()
        self.delivered: list[str] = []
        self.now = 0.0
        self.made = 0
        self.cancelled: set[str] = set()
        self.running: list[str] = []
        self.runs: dict[str, int] = {}
        self.ends: dict[str, list[Settled]] = {}
        self.connect()
        # A shell that never heard its first welcome has no session to come back to.
        self.step("deliver")

    def connect(self) -> None:
        self.sidecar = self.sessions.resume(Hello.model_validate_json(self.shell.hello()))
        self._sidecar_does(self.sidecar.connect(Hello.model_validate_json(self.shell.hello())))

    def step(self, name: str) -> None:
        match name:
            case "call":
                self.made += 1
                self._sidecar_does(self.sidecar.call(call(f"c{self.made}", timeout_ms=600_000), self.now))
            case "deliver":
                if self.to_shell:
                    self._shell_does(self.shell.receive(self.to_shell.popleft()))
                if self.to_sidecar:
                    self.delivered.append(self.to_sidecar.popleft())
                    self._sidecar_does(self.sidecar.receive(self.delivered[-1]))
            case "answer":
                if self.running:
                    call_id = self.running.pop(0)
                    self._shell_does(self.shell.result(call_id, ResultBody(content=f"result of {call_id}")))
            case "drop":
                self.to_shell.clear()
                self.to_sidecar.clear()
                self.shell.disconnect()
                self.sidecar.disconnect(self.now)
                self.connect()
            case "repeat":
                if self.delivered:
                    self._sidecar_does(self.sidecar.receive(self.delivered[-1]))
            case "cancel":
                if self.made:
                    self.cancelled.add(f"c{self.made}")
                    self._sidecar_does(self.sidecar.cancel(f"c{self.made}", self.now))
            case "foreign":
                self._sidecar_does(self.sidecar.receive('{"type":"tool_result","id":"x","result":{"content":"y"}}'))
            case "wait":
                self.now += 1.0
                self._sidecar_does(self.sidecar.expire(self.now))

    def finish(self) -> None:
        for _ in range(4 * self.made + 20):
            self.step("deliver")
            self.step("answer")

    def _sidecar_does(self, effects: list) -> None:
        for effect in effects:
            if isinstance(effect, Send):
                self.to_shell.append(effect.text)
            elif isinstance(effect, Settled):
                self.ends.setdefault(effect.call_id, []).append(effect)

    def _shell_does(self, effects: list) -> None:
        for effect in effects:
            if isinstance(effect, Send):
                self.to_sidecar.append(effect.text)
            elif isinstance(effect, RunCall):
                self.runs[effect.call.id] = self.runs.get(effect.call.id, 0) + 1
                self.running.append(effect.call.id)
            elif isinstance(effect, StopCall) and effect.call_id in self.running:
                self.running.remove(effect.call_id)
                self._shell_does(self.shell.result(effect.call_id, ResultBody(content="stopped")))


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_every_call_is_run_at_most_once_and_ends_exactly_once(steps: list[str]) -> None:
    line = BadLine()
    for step in steps:
        line.step(step)
    line.finish()
    assert set(line.ends) == {f"c{number}" for number in range(1, line.made + 1)}
    for call_id, ends in line.ends.items():
        assert len(ends) == 1
        assert line.runs.get(call_id, 0) <= 1
        if call_id not in line.cancelled:
            assert line.runs[call_id] == 1
            assert ends[0].result is not None and ends[0].result.content == f"result of {call_id}"
