"""Replaying a task's durable events shows what was streamed, for any history."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.acp.updates import Translator
from sidecar.engine.timeline import Rewind, Timeline
from tests.editors.editor import normalized
from tests.faults.scale import scaled

Json = dict[str, Any]


class History:
    """Writes a task's events as the journal does: durable ones numbered, live ones without a number."""

    def __init__(self) -> None:
        self.events: list[Json] = []
        self._seq = 0

    def durable(self, **event: Any) -> int:
        self._seq += 1
        self.events.append({"taskId": "t_1", "at": "2026-01-01T00:00:00Z", "seq": self._seq, **event})
        return self._seq

    def live(self, **event: Any) -> None:
        self.events.append({"taskId": "t_1", "at": f"2026-01-01T00:{len(self.events) % 60:02}:00Z", **event})

    def message(self, key: str, text: str, cut: int, agent: str, *, crash: bool) -> None:
        said = {"messageId": key, "role": "assistant", "agent": agent}
        for start, end in ((0, cut), (cut, len(text))):
            self.live(type="delta", **said, text=text[start:end], kind="text")
            if crash:
                # A reader that joins again first gets everything so far.
                self.live(type="delta", **said, text=text[:end], kind="text", whole=True)
        self.durable(type="message", **said, text=text)

    def call(self, key: str, status: str, *, crash: bool) -> None:
        call = {"type": "tool", "callId": key, "tool": "run_command", "args": {"command": "ls"}, "summary": "ok"}
        self.durable(**call, status="running")
        self.live(type="tool_output", callId=key, stream="stdout", text="x\n")
        if crash:
            self.durable(**call, status="running")
        self.durable(**call, status=status, details={"output": "x\n"})

    def rewind(self, to: int) -> None:
        self.durable(type="status", status="completed", reason="Rewound.", rewoundTo=min(to, self._seq))


_STEPS = st.one_of(
    st.tuples(
        st.just("message"),
        st.text(max_size=20),
        st.integers(0, 20),
        st.sampled_from(["coder", "reviewer"]),
        st.booleans(),
    ),
    st.tuples(st.just("call"), st.sampled_from(["success", "error", "cancelled", "unknown"]), st.booleans()),
    st.tuples(st.just("rewind"), st.integers(0, 30)),
    st.tuples(st.just("plan"), st.sampled_from(["pending", "running", "done", "failed"])),
)


@given(st.lists(_STEPS, max_size=12))
@settings(max_examples=scaled(200, 5_000), deadline=None)
def test_a_replay_shows_what_was_streamed(steps: list[tuple[Any, ...]]) -> None:
    history = History()
    for number, (kind, *rest) in enumerate(steps):
        match kind:
            case "message":
                text, cut, agent, crash = rest
                history.message(f"m{number}", text, cut, agent, crash=crash)
            case "call":
                history.call(f"c{number}", rest[0], crash=rest[1])
            case "rewind":
                history.rewind(rest[0])
            case "plan":
                history.durable(type="plan", items=[{"id": "1", "title": "one", "state": rest[0]}])

    live, streamed = Translator("/p", replay=False), []
    for event in history.events:
        streamed += [(event, update) for update in live.translate(event)]
    durable = [event for event in history.events if "seq" in event]
    rewinds = [Rewind(event["rewoundTo"], event["seq"]) for event in durable if "rewoundTo" in event]
    timeline = Timeline.of(rewinds)

    def counts(event: Json) -> bool:
        return "rewoundTo" in event or timeline.holds(event["seq"])

    replay = Translator("/p", replay=True)
    shown = normalized([update for event in durable if counts(event) for update in replay.translate(event)])
    # A live part counts with the message that ends it.
    kept = {event.get("messageId") for event in durable if counts(event)}
    still = [
        update
        for event, update in streamed
        if ("seq" in event and counts(event)) or (event["type"] == "delta" and event["messageId"] in kept)
    ]
    assert shown == normalized(still)


def test_a_repeated_event_gives_nothing() -> None:
    history = History()
    history.message("m", "hello", 2, "coder", crash=False)
    translator = Translator("/p", replay=False)
    first = [update for event in history.events for update in translator.translate(event)]
    assert "".join(update["content"]["text"] for update in first) == "hello"
    assert [update for event in history.events for update in translator.translate(event)] == []


def test_the_structured_answer_of_a_reviewer_is_not_shown() -> None:
    history = History()
    history.message("m", '{"passed": true}', 4, "reviewer", crash=False)
    translator = Translator("/p", replay=False)
    assert [update for event in history.events for update in translator.translate(event)] == []


def test_a_message_of_another_door_is_shown_and_your_own_is_not() -> None:
    history = History()
    history.durable(type="message", messageId="a", role="user", agent="", text="mine")
    history.durable(type="message", messageId="b", role="user", agent="", text="from the panel")
    translator = Translator("/p", replay=False)
    translator.own.append("mine")
    shown = [update for event in history.events for update in translator.translate(event)]
    assert [update["content"]["text"] for update in shown] == ["from the panel"]


def test_a_change_that_no_check_followed_is_not_verified() -> None:
    history = History()
    history.durable(type="verification", passed=True, attempt=1, checks=[_check("tests", passed=True)])
    history.durable(type="diff", files=[{"path": "a", "change": "modified", "added": 1, "removed": 0}])
    history.durable(type="complete", result={})
    translator = Translator("/p", replay=False)
    shown = [update for event in history.events for update in translator.translate(event)]
    assert "Not verified" in shown[-1]["content"]["text"]


def _check(name: str, *, passed: bool) -> Json:
    return {"name": name, "command": "pytest", "exitCode": 0, "passed": passed, "durationMs": 1, "evidence": ""}


def test_usage_shows_how_full_the_context_is_if_that_is_known() -> None:
    usage = {"type": "usage", "taskId": "t_1", "seq": 1, "inputTokens": 9, "outputTokens": 1, "cachedTokens": 0}
    known = {**usage, "costUsd": 0.5, "contextTokens": 10, "contextLimit": 100}
    cost = {"amount": 0.5, "currency": "USD"}
    assert Translator("/w", replay=False).translate(known) == [
        {"sessionUpdate": "usage_update", "used": 10, "size": 100, "cost": cost}
    ]
    assert Translator("/w", replay=False).translate({**usage, "costUsd": 0}) == []
