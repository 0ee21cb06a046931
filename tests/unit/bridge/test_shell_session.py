"""The shell's side of the bridge, as plain function calls."""

import json
from typing import Any

from bridge.session.protocol import RunCall, Send, StopCall, Welcomed
from bridge.session.shell import ResultLog, ShellSession
from sidecar.wire.base import ErrorBody
from sidecar.wire.bridge import FRAME_LIMIT, CancelFrame, EndedProcess, NotifyFrame, ResultBody, ShellInfo, Welcome
from tests.unit.bridge.frames import call, sent


def shell(log: ResultLog | None = None, *, connected: bool = True) -> ShellSession:
    made = ShellSession(ShellInfo(name="test", version="1"), "/w", ["write_file", "read_file"], log)
    if connected:
        made.receive(welcome())
    return made


def welcome(*open_calls: Any, session: str = "s1") -> str:
    return Welcome(session=session, heartbeat_seconds=15, open=list(open_calls)).to_json()


def body(content: str = "done") -> ResultBody:
    return ResultBody(content=content)


def cancel(call_id: str = "c1") -> str:
    return CancelFrame(id=call_id).to_json()


def test_it_introduces_itself_and_then_takes_the_session_up_again() -> None:
    session = shell(connected=False)
    first = json.loads(session.hello())
    assert first == {
        "type": "hello",
        "shell": {"name": "test", "version": "1"},
        "workspace": "/w",
        "tools": ["read_file", "write_file"],
    }
    assert isinstance(session.receive(welcome())[0], Welcomed)
    session.receive(call().to_json())
    session.disconnect()
    again = json.loads(session.hello())
    assert again["session"] == "s1" and again["remembers"] == ["c1"]


def test_a_call_runs_once_however_often_it_comes() -> None:
    session = shell()
    assert isinstance(session.receive(call().to_json())[0], RunCall)
    assert session.receive(call().to_json()) == []
    (answer,) = sent(session.result("c1", body("first")))
    assert answer == {"type": "tool_result", "id": "c1", "result": {"content": "first"}}
    assert sent(session.receive(call().to_json())) == [answer]
    assert session.result("c1", body("second")) == []


def test_a_result_without_a_connection_waits_in_the_log() -> None:
    session = shell()
    session.receive(call().to_json())
    session.disconnect()
    assert session.result("c1", body("kept")) == []
    effects = session.receive(welcome(call()))
    assert [frame["result"]["content"] for frame in sent(effects)] == ["kept"]
    # The frame that follows the welcome is the same question.
    assert session.receive(call().to_json()) == []
    # A later one is not.
    assert len(session.receive(call().to_json())) == 1


def test_a_call_that_still_runs_goes_on_after_a_reconnect() -> None:
    session = shell()
    session.receive(call().to_json())
    session.disconnect()
    assert [type(effect) for effect in session.receive(welcome(call()))] == [Welcomed]
    assert session.receive(call().to_json()) == []
    assert len(session.result("c1", body())) == 1


def test_a_call_that_only_stands_in_the_welcome_is_run() -> None:
    session = shell(connected=False)
    effects = session.receive(welcome(call()))
    assert [type(effect) for effect in effects] == [Welcomed, RunCall]
    assert session.receive(call().to_json()) == []


def test_an_id_that_comes_with_another_call_is_refused() -> None:
    session = shell()
    session.receive(call(path="a").to_json())
    (answer,) = sent(session.receive(call(path="b").to_json()))
    assert answer["error"]["code"] == "id_reused"


def test_a_cancel_stops_what_runs_and_its_end_is_reported() -> None:
    session = shell()
    session.receive(call().to_json())
    assert session.receive(cancel()) == [StopCall("c1")]
    killed = [EndedProcess(pid=7, command="sleep 60")]
    (answer,) = sent(session.error("c1", ErrorBody(code="cancelled", message="x"), killed))
    assert answer["killed"] == [{"pid": 7, "command": "sleep 60"}]


def test_a_cancel_that_comes_too_late_is_answered_with_the_result() -> None:
    session = shell()
    session.receive(call().to_json())
    (answer,) = session.result("c1", body())
    assert session.receive(cancel()) == [answer]


def test_a_call_that_was_called_off_before_it_came_is_never_run() -> None:
    session = shell()
    (answer,) = sent(session.receive(cancel()))
    assert answer["error"]["code"] == "cancelled"
    assert sent(session.receive(call().to_json())) == [answer]


def test_output_goes_out_only_while_the_call_runs_and_somebody_hears() -> None:
    session = shell()
    assert session.stream("c1", "stdout", "x") == []
    session.receive(call().to_json())
    assert sent(session.stream("c1", "stdout", "x")) == [
        {"type": "stream", "id": "c1", "stream": "stdout", "text": "x"}
    ]
    session.disconnect()
    assert session.stream("c1", "stdout", "x") == []


def test_a_result_that_fits_in_no_frame_becomes_an_error() -> None:
    session = shell()
    session.receive(call().to_json())
    (answer,) = sent(session.result("c1", body("x" * FRAME_LIMIT)))
    assert answer["type"] == "error" and answer["error"]["code"] == "too_large"


def test_what_dropped_out_of_the_log_is_still_not_run_again() -> None:
    session = shell(ResultLog(most=2))
    for number in range(4):
        session.receive(call(f"c{number}").to_json())
        session.result(f"c{number}", body())
    (answer,) = sent(session.receive(call("c0").to_json()))
    assert answer["error"]["code"] == "answer_dropped"
    assert sent(session.receive(call("c3").to_json()))[0]["type"] == "tool_result"


def test_the_log_is_bounded_by_bytes_and_never_drops_what_runs() -> None:
    log = ResultLog(most=100, most_bytes=1_000)
    session = shell(log)
    session.receive(call("runs").to_json())
    for number in range(50):
        session.receive(call(f"c{number}").to_json())
        session.result(f"c{number}", body("x" * 200))
    assert len(list(log)) < 10 and "runs" in list(log) and log.running == 1


def test_a_bad_frame_is_answered_and_an_error_is_not() -> None:
    session = shell()
    assert sent(session.receive("nonsense"))[0]["error"]["code"] == "malformed_json"
    assert session.receive('{"type":"error","error":{"code":"x","message":"y"}}') == []


def test_what_the_editor_knows_is_reported_while_connected() -> None:
    session = shell()
    frame = NotifyFrame(event="focus", path="a.py")
    assert session.notify(frame) == [Send(frame.to_json())]
    session.disconnect()
    assert session.notify(frame) == []
