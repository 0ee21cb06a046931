"""The sidecar's side of the bridge, as plain function calls."""

import json

import pytest

from bridge.session.protocol import DuplicateCall, FrameTooLarge, Notified, Settled, Streamed, TooManyCalls
from bridge.session.sidecar import ENDING_SECONDS, MARGIN_SECONDS, MAX_OPEN
from sidecar.wire.bridge import FRAME_LIMIT
from tests.unit.bridge.frames import call, error, hello, others, result, sent, session

LIMIT = 10.0 + MARGIN_SECONDS


def test_a_call_is_sent_and_its_result_settles_it() -> None:
    shell = session()
    (frame,) = sent(shell.call(call(path="a.py"), now=0.0))
    assert frame == {
        "type": "tool_call",
        "id": "c1",
        "tool": "read_file",
        "args": {"path": "a.py"},
        "timeoutMs": 10_000,
        "workspace": "/w",
    }
    (settled,) = shell.receive(result(content="text"))
    assert isinstance(settled, Settled) and settled.result is not None
    assert (settled.call_id, settled.result.content, settled.error) == ("c1", "text", None)


def test_a_second_result_is_passed_over() -> None:
    shell = session()
    shell.call(call(), now=0.0)
    shell.receive(result())
    assert shell.receive(result(content="another")) == []
    assert shell.receive(error()) == []


def test_a_foreign_result_is_answered_with_an_error_and_settles_nothing() -> None:
    shell = session()
    shell.call(call("mine"), now=0.0)
    effects = shell.receive(result("not-mine"))
    assert others(effects) == []
    assert sent(effects)[0]["error"]["code"] == "unknown_call"
    assert sent(effects)[0]["id"] == "not-mine"
    assert shell.has_open("mine")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "malformed_json"),
        ("{", "malformed_json"),
        ("[]", "bad_frame"),
        ("null", "bad_frame"),
        ('"tool_result"', "bad_frame"),
        ("{}", "bad_frame"),
        ('{"type": "surprise"}', "bad_frame"),
        ('{"type": "tool_call", "id": "c1"}', "bad_frame"),
        ('{"type": "tool_result", "id": "c1"}', "bad_frame"),
        ('{"type": "tool_result", "id": 7, "result": {"content": "x"}}', "bad_frame"),
        ('{"type": "tool_result", "id": "c1", "result": {"content": 7}}', "bad_frame"),
        ('{"type": "stream", "id": "c1", "stream": "stdwhat", "text": "x"}', "bad_frame"),
        ('{"type": "notify", "event": "weather"}', "bad_frame"),
        ('{"type": "hello"}', "bad_frame"),
        ("[" * 100_000, "malformed_json"),
    ],
)
def test_a_bad_frame_is_answered_with_an_error_and_the_calls_stay_open(text: str, code: str) -> None:
    shell = session()
    shell.call(call(), now=0.0)
    effects = shell.receive(text)
    assert [frame["type"] for frame in sent(effects)] == ["error"]
    assert sent(effects)[0]["error"]["code"] == code
    assert others(effects) == [] and shell.has_open("c1")
    assert isinstance(shell.receive(result())[0], Settled)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{}", "'type' is required"),
        ('{"type": "surprise"}', "'type' must be one of 'hello', 'tool_result', 'stream', 'error', 'notify'"),
        ('{"type": "tool_result", "id": "c1"}', "tool_result.result: required"),
        (
            '{"type": "hello", "shell": {"name": "x", "version": "1"}, "workspace": "here", "tools": []}',
            "hello.workspace: must be an absolute path",
        ),
    ],
)
def test_an_answer_to_a_bad_frame_says_in_plain_words_what_is_wrong(text: str, problem: str) -> None:
    (answer,) = sent(session().receive(text))
    assert answer["error"]["message"] == f"Can't parse the frame. {problem}"


def test_a_bad_frame_that_names_a_call_is_answered_with_its_id() -> None:
    (answer,) = sent(session().receive('{"type": "tool_result", "id": "c9", "result": 1}'))
    assert answer["id"] == "c9"


def test_what_a_newer_shell_says_beyond_this_is_passed_over() -> None:
    shell = session()
    shell.call(call(), now=0.0)
    frame = {"type": "tool_result", "id": "c1", "result": {"content": "x", "mood": "good"}, "traceId": "t"}
    assert isinstance(shell.receive(json.dumps(frame))[0], Settled)


def test_a_second_hello_is_an_error() -> None:
    (answer,) = sent(session().receive(hello().to_json()))
    assert answer["error"]["code"] == "unexpected_hello"


def test_a_shells_error_settles_the_call_and_one_without_an_id_settles_nothing() -> None:
    shell = session()
    shell.call(call(), now=0.0)
    assert shell.receive(error(None)) == []
    (settled,) = shell.receive(error(code="no_such_file"))
    assert isinstance(settled, Settled) and settled.error is not None
    assert settled.error.code == "no_such_file" and settled.answered


def test_output_is_passed_on_while_the_call_is_open() -> None:
    shell = session()
    shell.call(call(), now=0.0)
    text = json.dumps({"type": "stream", "id": "c1", "stream": "stderr", "text": "hm"})
    assert shell.receive(text) == [Streamed("c1", "stderr", "hm")]
    shell.receive(result())
    assert shell.receive(text) == []


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "notify", "event": "file_changed", "path": "a.py"},
        {"type": "notify", "event": {"type": "file_changed", "path": "a.py"}},
    ],
)
def test_what_the_editor_knows_first_is_passed_on(frame: object) -> None:
    (noted,) = session().receive(json.dumps(frame))
    assert isinstance(noted, Notified)
    assert (noted.frame.event, noted.frame.path) == ("file_changed", "a.py")


# -- reconnects --------------------------------------------------------------------------------------------------------


def test_after_a_reconnect_the_open_calls_come_again_with_their_ids() -> None:
    shell = session()
    shell.call(call("one"), now=0.0)
    shell.call(call("two"), now=0.0)
    shell.receive(result("one"))
    shell.disconnect(now=1.0)
    welcome, *again = sent(shell.connect(hello(session="s1")))
    assert welcome["type"] == "welcome" and welcome["session"] == "s1" and welcome["heartbeatSeconds"] == 15.0
    assert [each["id"] for each in welcome["open"]] == ["two"]
    assert [(frame["type"], frame["id"]) for frame in again] == [("tool_call", "two")]
    assert isinstance(shell.receive(result("two"))[0], Settled)


def test_a_call_made_while_the_shell_is_away_comes_when_it_is_back() -> None:
    shell = session()
    shell.disconnect(now=0.0)
    assert shell.call(call(), now=0.0) == []
    assert [frame["type"] for frame in sent(shell.connect(hello()))] == ["welcome", "tool_call"]


def test_a_shell_that_stays_away_leaves_an_error_for_each_call_once() -> None:
    shell = session()
    shell.call(call(timeout_ms=600_000), now=0.0)
    shell.disconnect(now=1.0)
    assert shell.expire(now=30.9) == []
    (settled,) = shell.expire(now=31.0)
    assert isinstance(settled, Settled) and settled.error is not None
    assert settled.error.code == "host_gone" and not settled.answered
    assert shell.is_gone(31.0) and shell.expire(now=32.0) == []


def test_a_call_whose_time_runs_out_while_the_shell_is_away_is_given_up_and_called_off_later() -> None:
    shell = session()
    shell.call(call(), now=0.0)
    shell.disconnect(now=1.0)
    (settled,) = shell.expire(now=LIMIT)
    assert isinstance(settled, Settled) and settled.error is not None
    assert settled.error.code == "host_gone" and not settled.answered
    welcome, called_off = sent(shell.connect(hello()))
    assert welcome["open"] == [] and called_off == {"type": "cancel", "id": "c1"}
    assert shell.receive(error()) == []


def test_a_shell_is_asked_only_while_it_is_connected() -> None:
    shell = session()
    assert shell.offers("read_file") and not shell.offers("write_file")
    shell.disconnect(now=0.0)
    assert not shell.offers("read_file")


# -- time and cancel ---------------------------------------------------------------------------------------------------


def test_a_call_past_its_limit_is_called_off_and_then_given_up() -> None:
    shell = session()
    shell.call(call(), now=0.0)
    assert shell.next_deadline() == LIMIT
    assert shell.expire(now=LIMIT - 0.01) == []
    assert sent(shell.expire(now=LIMIT)) == [{"type": "cancel", "id": "c1"}]
    (settled,) = shell.expire(now=LIMIT + ENDING_SECONDS)
    assert isinstance(settled, Settled) and settled.error is not None and settled.error.code == "timed_out"
    assert shell.next_deadline() is None


def test_a_result_that_comes_while_the_call_is_called_off_is_still_the_result() -> None:
    shell = session()
    shell.call(call(), now=0.0)
    shell.expire(now=LIMIT)
    (settled,) = shell.receive(result(content="just in time"))
    assert isinstance(settled, Settled) and settled.result is not None and settled.error is None


def test_a_cancel_is_sent_once_and_ends_with_the_shells_word() -> None:
    shell = session()
    shell.call(call(), now=0.0)
    assert sent(shell.cancel("c1", now=1.0)) == [{"type": "cancel", "id": "c1"}]
    assert shell.cancel("c1", now=1.1) == []
    frame = {
        "type": "error",
        "id": "c1",
        "error": {"code": "cancelled", "message": "x"},
        "killed": [{"pid": 7, "command": "sleep"}],
    }
    (settled,) = shell.receive(json.dumps(frame))
    assert isinstance(settled, Settled) and [each.pid for each in settled.killed] == [7]


def test_a_call_cancelled_while_the_shell_is_away_is_called_off_when_it_is_back() -> None:
    shell = session()
    shell.call(call(), now=0.0)
    shell.disconnect(now=0.0)
    assert shell.cancel("c1", now=1.0) == []
    welcome, called_off = sent(shell.connect(hello()))
    assert welcome["open"] == [] and called_off == {"type": "cancel", "id": "c1"}


def test_cancelling_what_is_not_open_does_nothing() -> None:
    assert session().cancel("never", now=0.0) == []


# -- bounds ------------------------------------------------------------------------------------------------------------


def test_an_id_is_open_once() -> None:
    shell = session()
    shell.call(call(), now=0.0)
    with pytest.raises(DuplicateCall):
        shell.call(call(), now=0.0)


def test_the_open_calls_are_bounded() -> None:
    shell = session()
    for number in range(MAX_OPEN):
        shell.call(call(f"c{number}"), now=0.0)
    with pytest.raises(TooManyCalls):
        shell.call(call("one-more"), now=0.0)


def test_the_open_calls_are_bounded_in_size_too() -> None:
    shell = session()
    for number in range(2):
        shell.call(call(f"c{number}", text="x" * 15_000_000), now=0.0)
    with pytest.raises(TooManyCalls):
        shell.call(call("c2", text="x" * 15_000_000), now=0.0)
    shell.receive(result("c0"))
    shell.call(call("c2", text="x" * 15_000_000), now=0.0)


def test_a_call_that_fits_in_no_frame_is_not_made() -> None:
    shell = session()
    with pytest.raises(FrameTooLarge):
        shell.call(call(text="ä" * (FRAME_LIMIT // 2)), now=0.0)
    assert not shell.has_open("c1")


def test_a_frame_above_the_limit_is_answered_with_an_error() -> None:
    (answer,) = sent(session().receive("x" * (FRAME_LIMIT + 1)))
    assert answer["error"]["code"] == "frame_too_large"


def test_what_is_remembered_of_ended_calls_is_bounded() -> None:
    shell = session()
    for number in range(5_000):
        shell.call(call(f"c{number}"), now=0.0)
        shell.receive(result(f"c{number}"))
    assert not shell.remembers("c0") and shell.remembers("c4999")
