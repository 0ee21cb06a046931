"""Rendering a task: events in, lines out."""

from typing import Any

from sidecar.commands.render import TaskRenderer
from sidecar.commands.text import Style

Event = dict[str, Any]
PLAIN = Style(colour=False)


class Rendering:
    """Numbers the events it renders."""

    def __init__(self, *, connected_at: str = "", **options: Any) -> None:
        self.renderer = TaskRenderer(PLAIN, **options)
        self._connected_at = connected_at
        self._seq = 0
        self.lines: list[str] = []

    def event(
        self, type_: str, /, *, live: bool = False, at: str = "2026-01-01T00:00:00.000Z", **fields: Any
    ) -> list[str]:
        event: Event = {"type": type_, "taskId": "t_0123456789abcdef0123", "at": at, **fields}
        if not live:
            self._seq += 1
            event["seq"] = self._seq
        lines = self.renderer.render(event, self._connected_at)
        self.lines += lines
        return lines

    def delta(self, text: str, message: str = "m1", kind: str = "text") -> list[str]:
        return self.event("delta", live=True, messageId=message, role="assistant", agent="coder", text=text, kind=kind)

    def message(self, text: str, message: str = "m1") -> list[str]:
        return self.event("message", messageId=message, role="assistant", agent="coder", text=text)

    def call(self, status: str, **fields: Any) -> list[str]:
        call: Event = {"callId": "c1", "tool": "read_file", "args": {"path": "a.py"}, "summary": "", "durationMs": 12}
        return self.event("tool", **{**call, "status": status, "cached": False, "executor": "local", **fields})


def test_what_was_said_so_far_is_told_to_whoever_comes_back_in_the_middle_and_nothing_twice() -> None:
    task = Rendering()
    task.event("status", status="running")
    task.delta("One.\nTw")
    whole = {"messageId": "m1", "role": "assistant", "agent": "coder", "kind": "text", "whole": True}
    task.event("delta", live=True, **whole, text="One.\nTwo.\nThr")
    task.delta("ee.\n")
    task.message("One.\nTwo.\nThree.\n")
    assert [line.strip() for line in task.lines] == ["One.", "Two.", "Three."]


def test_a_reply_that_broke_off_and_is_asked_for_again_is_not_reported_twice() -> None:
    task = Rendering()
    task.event("status", status="running")
    again = {"messageId": "m1", "role": "assistant", "agent": "coder", "kind": "text", "whole": True, "text": ""}
    task.delta("One.\nTw")
    task.event("delta", live=True, **again)
    assert "Tw" not in "".join(task.renderer.live(1.0, 80))
    task.delta("One.\nTwo.\nThr")
    task.message("One.\nTwo.\nThree.")
    assert [line.strip() for line in task.lines] == ["One.", "Two.", "Three."]


def test_one_that_begins_differently_the_second_time_is_reported_from_its_beginning() -> None:
    task = Rendering()
    task.event("status", status="running")
    again = {"messageId": "m1", "role": "assistant", "agent": "coder", "kind": "text", "whole": True, "text": ""}
    task.delta("One.\nTw")
    task.event("delta", live=True, **again)
    task.delta("Once more.\nAnd")
    task.message("Once more.\nAnd that is all.")
    assert [line.strip() for line in task.lines] == ["One.", "Once more.", "And that is all."]


def test_a_task_is_reported_from_the_question_to_the_end() -> None:
    task = Rendering()
    task.event("status", status="queued")
    task.event("message", messageId="asked", role="user", agent="", text="read it")
    task.event("status", status="running")
    task.event("route", intent="explain_code", confidence=0.9, pipeline=["coder"], why="it asks a question")
    task.event("step", step=1, total=1, message="Reads code.", agent="coder", state="started")
    task.call("running")
    task.call("success", summary="12 lines")
    task.message("It is empty.")
    task.event("step", step=1, total=1, message="Reads code.", agent="coder", state="completed")
    task.event("complete", result={"summary": "It is empty."})
    task.event("status", status="completed", at="2026-01-01T00:00:01.500Z")
    assert task.lines == [
        "› read it",
        "",
        "  ✓ read_file a.py · 12 lines  12 ms",
        "  It is empty.",
        "",
        "✓ Completed in 1.5 s  t_01234567",
    ]
    assert task.renderer.ended


def test_an_event_that_comes_twice_is_reported_once() -> None:
    renderer = TaskRenderer(PLAIN)
    event = {"type": "message", "seq": 5, "role": "user", "messageId": "m", "agent": "", "text": "hello"}
    assert renderer.render(event) == ["› hello"]
    assert renderer.render(event) == []


def test_an_unknown_kind_of_event_is_passed_over() -> None:
    assert Rendering().event("something_new", x=1) == []


def test_streamed_lines_stay_as_soon_as_they_are_whole_and_are_not_repeated() -> None:
    task = Rendering()
    task.event("status", status="running")
    assert task.delta("one\ntw") == ["  one"]
    assert any("tw" in line for line in task.renderer.live(0, 80))
    assert task.delta("o\n\nthree") == ["  two", ""]
    assert task.message("one\ntwo\n\nthree") == ["  three"]


def test_a_message_whose_beginning_was_missed_is_reported_whole_when_it_is_whole() -> None:
    task = Rendering(connected_at="2026-01-02T00:00:00.000Z")
    task.event("status", status="running")
    assert task.delta("world\nand more") == []
    assert task.message("hello world\nand more") == ["  hello world", "  and more"]


def test_words_that_come_after_their_whole_message_are_not_reported_again() -> None:
    task = Rendering()
    task.message("hello")
    assert task.delta("hello") == []
    assert task.renderer.live(0, 80)[:-1] == []


def test_a_message_that_breaks_off_is_reported_as_far_as_it_came() -> None:
    task = Rendering()
    task.event("status", status="running")
    task.delta("half a sen")
    assert task.event("retry", attempt=2, of=3, hints=[], error="cut")[0] == "  half a sen"


def test_words_whose_beginning_may_have_been_missed_are_not_repeated_when_a_call_ends_before_their_message() -> None:
    task = Rendering(connected_at="2026-01-01T00:00:01.000Z")
    task.event("status", status="running")
    task.call("running")
    task.delta("There is no such symbol.")
    task.call("error", error={"code": "no_symbol", "message": "No symbol."})
    task.message("There is no such symbol.")
    assert "\n".join(task.lines).count("There is no such symbol.") == 1


def test_thinking_is_seen_while_it_lasts_and_leaves_nothing() -> None:
    task = Rendering()
    task.event("status", status="running")
    assert task.delta("hmm", kind="thinking") == []
    assert "  hmm" in task.renderer.live(0, 80)
    assert task.message("done") == ["  done"]


def test_long_prose_is_wrapped_for_a_terminal_but_code_is_not() -> None:
    task = Rendering(columns=20, wrap=True)
    code = "x = 'a very long line of code'"
    assert task.message(f"a few more words than fit\n```\n{code}\n```") == [
        "  a few more words",
        "  than fit",
        "  ```",
        f"  {code}",
        "  ```",
    ]


def test_a_wrapped_quote_keeps_its_bar_and_a_wrapped_list_item_its_room() -> None:
    task = Rendering(columns=26, wrap=True)
    assert task.message("> a quote with many words in it\n12. one two three four five six") == [
        "  > a quote with many",
        "  > words in it",
        "  12. one two three",
        "      four five six",
    ]


def test_what_follows_a_resize_fits_the_new_width() -> None:
    task = Rendering(columns=80, wrap=True)
    assert len(task.message("word " * 12)) == 1
    task.renderer.resize(24)
    rows = task.message("word " * 12, "m2")
    assert len(rows) > 1 and all(len(row) <= 24 for row in rows)


def test_a_task_that_ended_asks_nothing_any_more() -> None:
    task = Rendering()
    approval: Event = {"approvalId": "a1", "callId": "c1", "action": "run_command x", "why": "it may do anything"}
    task.event("approval", **approval, argv=["rm", "x"], cwd="/w", state="requested")
    task.event("question", questionId="q1", text="Go ahead?", choices=["yes", "no"], state="asked")
    task.event("status", status="cancelled")
    assert not task.renderer.open_approvals and not task.renderer.open_questions


def test_the_live_part_shows_the_last_output_of_what_is_running() -> None:
    task = Rendering()
    task.call("running", tool="run_command", args={"command": "make"})
    for number in range(9):
        task.event("tool_output", live=True, callId="c1", stream="stdout", text=f"line {number}\n")
    live = task.renderer.live(3.0, 80)
    assert live[:-1] == [f"  │ line {number}" for number in range(4, 9)]
    assert "run_command make" in live[-1]
    assert "3.0 s" in live[-1]


def test_the_live_part_fits_whatever_is_going_on() -> None:
    task = Rendering()
    task.call("running", tool="run_command", args={"command": "x" * 500})
    task.event("tool_output", live=True, callId="c1", stream="stdout", text="y" * 500)
    assert all(len(line) < 60 for line in task.renderer.live(1.0, 60))


def test_a_call_that_failed_says_why_and_one_from_the_cache_says_so() -> None:
    task = Rendering()
    failed = task.call("error", error={"code": "not_found", "message": "There is no a.py."})
    assert failed == ["  ✗ read_file a.py · error  12 ms", "    There is no a.py."]
    assert task.call("success", cached=True, summary="1 line") == ["  ✓ read_file a.py · 1 line  cached"]


def test_a_call_that_may_have_happened_is_said_to_be_unknown() -> None:
    lines = Rendering().call("unknown")
    assert "?" in lines[0]
    assert "not repeated" in lines[1]


def test_a_question_shows_the_whole_command_and_stops_the_live_part() -> None:
    task = Rendering()
    approval: Event = {"approvalId": "a1", "callId": "c1", "action": "run_command x", "why": "it may do anything"}
    asked = task.event("approval", **approval, argv=["rm", "-rf", "my dir\x1b[2J"], cwd="/w", state="requested")
    assert "    $ rm -rf 'my dir\\x1b[2J'" in asked
    assert "    in /w" in asked
    assert task.renderer.live(0, 80) == []
    assert list(task.renderer.open_approvals) == ["a1"]
    assert task.event("approval", **approval, state="allowed") == ["  Allowed"]
    assert not task.renderer.open_approvals


def test_a_question_about_an_edit_shows_the_diff() -> None:
    fields: Event = {"approvalId": "a1", "callId": "c1", "action": "edit_file x", "why": "it decides what runs"}
    asked = Rendering().event("approval", **fields, diff="--- a\n+++ b\n-old\n+new\n", state="requested")
    assert asked[-2:] == ["    -old", "    +new"]


def test_a_failure_ends_with_its_reason_and_the_way_on() -> None:
    task = Rendering()
    task.event("status", status="running")
    task.event("error", code="max_duration", message="Too slow.", recoverable=True)
    lines = task.event("status", status="failed", at="2026-01-01T00:00:02.000Z")
    assert lines[-3:] == [
        "✗ Failed after 2.0 s",
        "  Too slow.",
        "  Resume it: brain resume --follow t_01234567",
    ]


def test_a_reason_that_was_just_read_is_not_reported_again() -> None:
    task = Rendering()
    task.message("I did not understand.")
    task.event("step", step=1, total=1, message="I did not understand.", agent="coder", state="failed")
    task.event("error", code="not_understood", message="I did not understand.", recoverable=True)
    task.event("status", status="failed")
    assert sum("did not understand" in line for line in task.lines) == 1
    assert 'brain message t_01234567 "…"' in task.lines[-1]


def test_a_resume_that_fails_alike_says_why_again() -> None:
    task = Rendering()
    for status in ("queued", "queued"):
        task.event("status", status=status)
        task.event("step", step=1, total=1, message="No key.", agent="coder", state="failed")
        task.event("error", code="no_model", message="No key.", recoverable=True)
        task.event("status", status="failed")
    assert sum("No key." in line for line in task.lines) == 2


def test_what_cannot_be_resumed_is_not_said_to_be() -> None:
    task = Rendering()
    task.event("error", code="script_ended", message="No.", recoverable=False)
    assert task.event("status", status="failed")[-1] == '  Continue with a message: brain message t_01234567 "…"'


def test_a_step_that_the_user_stopped_is_not_reported_as_a_failure() -> None:
    task = Rendering()
    step = {"step": 1, "total": 1, "agent": "coder"}
    task.event("step", message="Change the code", state="started", **step)
    task.event("status", status="cancelling")
    assert task.event("step", message="Stopped because you cancelled the task.", state="failed", **step) == []


def test_a_cancelled_task_says_what_was_killed_and_what_had_happened() -> None:
    task = Rendering()
    killed = [{"callId": "c1", "pid": 77, "command": "sleep 60"}]
    effects = [{"callId": "c0", "tool": "write_file", "summary": "wrote a.py"}]
    task.event("cancelled", killed=killed, effects=effects)
    lines = task.event("status", status="cancelled")
    assert "  killed: sleep 60 (process 77)" in lines
    assert "  already happened: write_file: wrote a.py" in lines


def test_a_new_file_has_lost_no_lines_and_one_that_is_gone_again_is_no_change() -> None:
    task = Rendering()
    for changes in (
        [("a.py", "created", 20, 0), ("b.py", "created", 3, 0), ("c.py", "modified", 4, 1)],
        [("a.py", "modified", 9, 2), ("b.py", "deleted", 0, 3), ("c.py", "modified", 1, 1)],
    ):
        files = [{"path": path, "change": kind, "added": plus, "removed": minus} for path, kind, plus, minus in changes]
        task.event("diff", files=files)
    lines = task.event("status", status="completed")
    assert lines[1:4] == ["2 files changed", "  + a.py  +27 -0", "  ~ c.py  +5 -2"]


def test_what_had_happened_wraps_in_a_narrow_terminal() -> None:
    task = Rendering(columns=40, wrap=True)
    effects = [{"callId": "c0", "tool": "rename_symbol", "summary": "Renamed class Basket to Cart in 3 files."}]
    task.event("cancelled", killed=[], effects=effects)
    assert all(len(line) < 40 for line in task.event("status", status="cancelled"))


def test_files_and_checks_stand_at_the_end() -> None:
    task = Rendering()
    for _ in range(2):
        task.event("diff", files=[{"path": "a.py", "change": "modified", "added": 2, "removed": 1}])
    check = {"name": "tests", "command": "pytest", "exitCode": 1, "durationMs": 5, "evidence": "1 failed"}
    task.event("verification", passed=False, attempt=1, checks=[{**check, "passed": False}])
    lines = task.event("status", status="completed")
    assert lines[1:-2] == [
        "1 file changed",
        "  ~ a.py  +4 -2",
        "A check failed",
        "  ✗ tests  pytest",
        "    1 failed",
    ]
    assert "Completed, but a check failed" in lines[-2]


def test_what_was_verified_before_a_later_change_is_not_reported() -> None:
    task = Rendering()
    check = {"name": "tests", "command": "pytest", "exitCode": 0, "durationMs": 5, "evidence": "", "passed": True}
    task.event("verification", passed=True, attempt=1, checks=[check], notes=["Flaky: test_x."])
    lines = task.event("status", status="completed")
    assert "Verified" in lines
    assert "  Flaky: test_x." in lines
    task.event("status", status="queued")
    task.event("diff", files=[{"path": "a.py", "change": "modified", "added": 1, "removed": 1}])
    assert "Verified" not in task.event("status", status="completed")


def test_what_a_check_writes_is_counted_and_not_listed() -> None:
    task = Rendering()
    step = {"step": 1, "total": 1, "message": "x", "state": "started"}
    task.event("step", agent="coder", **step)
    task.event("diff", files=[{"path": "a.rs", "change": "modified", "added": 1, "removed": 1}])
    task.event("step", agent="verify", **step)
    task.event("diff", files=[{"path": f"target/{n}", "change": "created", "added": 1, "removed": 0} for n in "ab"])
    lines = task.event("status", status="completed")
    assert "1 file changed" in lines
    assert "  The checks wrote 2 more files." in lines


def test_a_change_of_which_nothing_is_known_is_told_to_be_so() -> None:
    task = Rendering()
    found = {"passed": None, "attempt": 1, "checks": [], "notes": ["No tests were found."]}
    task.event("complete", result={"summary": "x", "filesModified": ["a.py"], "verification": found, "usage": {}})
    lines = task.event("status", status="completed")
    assert "Not verified" in lines
    assert "  No tests were found." in lines


def test_an_attempt_is_told_with_its_hints_and_an_escalation_with_what_to_do() -> None:
    task = Rendering()
    lines = task.event("retry", attempt=2, of=3, hints=["Mend the code."], error="tests: test_add failed")
    assert lines == ["  Attempt 2 of 3: tests: test_add failed", "  - Mend the code."]
    task.event("escalation", reason="It was tried 3 times.", attempts=3, suggestions=["Simplify."])
    lines = task.event("status", status="escalated")
    assert any("Needs you" in line for line in lines)
    assert "  - Simplify." in lines
    assert any("brain message" in line for line in lines)


def test_a_user_who_is_needed_is_told_why() -> None:
    task = Rendering()
    task.event("escalation", reason="It fails each time.", attempts=3, suggestions=["Look at a.py."])
    lines = task.event("status", status="escalated")
    assert "  It fails each time." in lines
    assert "  - Look at a.py." in lines


def test_a_model_that_takes_over_is_named_with_the_reason() -> None:
    lines = Rendering().event("model", role="smart", provider="b", model="2", fallbackFrom="a/1", reason="overloaded")
    assert lines == ["  b/2 takes over from a/1: overloaded"]


def test_calls_of_an_earlier_life_are_forgotten() -> None:
    task = Rendering()
    task.event("status", status="running")
    task.call("running")
    task.event("status", status="interrupted", reason="It stopped.")
    task.event("status", status="queued", reason="resumed")
    assert "read_file" not in task.renderer.live(0, 80)[-1]


def test_what_two_agents_say_at_the_same_time_is_told_once() -> None:
    task = Rendering()
    task.event("step", agent="coder", step=1, total=2, message="one", state="started")
    task.delta("The first is done.", "m1")
    task.delta("The second is done.", "m2")
    for message, text in (("m1", "The first is done."), ("m2", "The second is done. Really.")):
        task.event("message", messageId=message, role="assistant", agent="coder", text=text)
    told = [line.strip() for line in task.lines]
    assert told.count("The first is done.") == 1
    assert told[-2:] == ["The second is done.", "Really."]


def test_what_a_call_is_about_is_not_said_twice() -> None:
    task = Rendering(columns=100)
    call = {"callId": "c", "tool": "create_file", "args": {"path": "a.py"}, "durationMs": 5}
    (line,) = task.event("tool", status="success", summary="created a.py", **call)
    assert line == "  ✓ create_file a.py · created  5 ms"


def test_a_task_that_was_undone_says_so_and_what_was_undone_is_not_counted() -> None:
    task = Rendering()

    def changed(added: int) -> None:
        task.event("diff", files=[{"path": "a.py", "change": "modified", "added": added, "removed": 0}])

    task.event("status", status="running")
    changed(1)
    changed(10)
    task.event("status", status="completed")
    changed(0)
    told = task.event("status", status="cancelled", reason="rewound to event 2", rewoundTo=2)
    assert told == [
        "",
        "↶ Rewound to event 2; later events no longer count",
        "  Continue from there: brain resume --follow t_01234567",
    ]
    assert task.renderer.ended
    task.event("status", status="queued", reason="resumed")
    changed(100)
    assert "  ~ a.py  +101 -0" in task.event("status", status="completed")
    # To before that rewind, and so as if it had not been.
    task.event("status", status="cancelled", reason="rewound to event 4", rewoundTo=4)
    task.event("status", status="queued", reason="resumed")
    assert "  ~ a.py  +11 -0" in task.event("status", status="completed")


def test_a_plan_is_shown_once_and_not_for_each_change_of_state() -> None:
    task = Rendering()
    items = [{"id": "1", "title": "Write it", "state": "pending"}, {"id": "2", "title": "Test it", "state": "pending"}]
    assert task.event("plan", items=items) == ["  1. Write it", "  2. Test it"]
    assert task.event("plan", items=[{**items[0], "state": "running"}, items[1]]) == []


def test_a_verdict_is_shown_with_its_issues() -> None:
    issue = {"severity": "error", "path": "a.py", "line": 3, "text": "It never ends."}
    lines = Rendering().event("verdict", approved=False, issues=[issue])
    assert lines == ["  The review found problems:", "  - error: a.py:3: It never ends."]
    assert Rendering().event("verdict", approved=True, issues=[]) == ["  No problems found."]


def test_a_question_shows_its_choices_and_who_answered_it() -> None:
    task = Rendering()
    question: Event = {"questionId": "q1", "text": "Run it\x1b[2J again?", "choices": ["skip", "repeat"]}
    asked = task.event("question", **question, state="asked")
    assert asked[-2:] == ["    1. skip", "    2. repeat"]
    assert "  Run it\\x1b[2J again?" in asked
    assert task.renderer.live(0, 80) == []
    answered = task.event("question", **question, state="answered", answer="skip", by="policy")
    assert answered == ["  by policy, answered: skip"]
    assert not task.renderer.open_questions
