"""What others read of a task: text of models that has no effect, evidence, line comments, activities."""

import json

from sidecar.doors.channels import ReportedTask, TaskOrigin, event_name
from sidecar.doors.dispatcher import choose, decide, waiting_for
from sidecar.doors.github_comments import positions, render_review
from sidecar.doors.linear_channel import LinearChannel, activity_id, choose_state
from sidecar.doors.linear_picker import in_order
from sidecar.doors.markdown import code, describe_pull, plain, verified

DIFF = """\
diff --git a/old.py b/calc.py
similarity index 90%
rename from old.py
rename to calc.py
--- a/old.py
+++ b/calc.py
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three
@@ -10,2 +10,3 @@ def f():
 ten
+diff --git a/x b/x
 eleven
diff --git a/gone.py b/gone.py
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-gone
"""


def test_text_of_a_model_notifies_no_one_closes_nothing_and_hides_nothing() -> None:
    text = plain("Closes #12, fixes a/b#12, thanks @alice. <!-- github.t_1.4 --> a@b.c `@x` &#99;")
    assert "#12" not in text and "@alice" not in text and "<!--" not in text
    assert "a@b.c" in text and "`@x`" in text and "&#99;" in text
    closing = plain("Fixes: https://github.com/a/b/issues/3 and resolves GH-4; it fixes the sum.")
    assert "Fixes:" not in closing and "resolves" not in closing and "it fixes the sum" in closing
    assert code("a ``b`` c\nd") == "```a ``b`` c d```" and code("`x`") == "`` `x` ``"


def test_a_pull_request_shows_checks_commands_and_files_and_claims_no_proof_without_a_check() -> None:
    checks = [{"name": "tests", "command": "a | b", "exitCode": 1, "passed": False}]
    complete = {
        "type": "complete",
        "taskId": "t_1",
        "result": {"summary": "Done", "filesModified": ["a.py"], "verification": {"passed": False, "checks": checks}},
    }
    ran = {"type": "tool", "tool": "run_command", "status": "success", "callId": "1", "args": {"command": ["ls", "-l"]}}
    body = describe_pull(complete, [ran, {**ran, "status": "error"}], "7")
    assert "Closes #7" in body and "| `a \\| b` | 1 | **failed** |" in body and "- `ls -l (error)`" in body
    assert verified(complete) is False
    unproven = {**complete, "result": {"summary": "Done", "filesModified": [], "verification": None}}
    assert "nothing is proven" in describe_pull(unproven, [], "") and verified(unproven) is None


def test_line_comments_are_where_github_counts_them() -> None:
    assert positions(DIFF) == {
        ("calc.py", 1): 1,
        ("calc.py", 2): 3,
        ("calc.py", 3): 4,
        ("calc.py", 10): 6,
        ("calc.py", 11): 7,
        ("calc.py", 12): 8,
    }
    issues = [
        {"path": "calc.py", "line": 2, "severity": "error", "text": "Wrong."},
        {"path": "calc.py", "severity": "hint", "text": "Long."},
    ]
    review = render_review({}, [{"type": "verdict", "approved": False, "issues": issues}], DIFF)
    assert review.comments == [{"path": "calc.py", "position": 3, "body": "**error**: Wrong."}]
    assert "`calc.py` **hint**: Long." in review.body
    assert render_review({"result": {"summary": "Fine."}}, [], DIFF) == ("Fine.", [])


def test_an_issue_of_linear_moves_only_forward() -> None:
    named = (("Todo", "unstarted"), ("Doing", "started"), ("In Review", "started"), ("Done", "completed"))
    states = [{"id": name, "name": name, "type": kind, "position": at} for at, (name, kind) in enumerate(named)]
    assert choose_state(states, "unstarted", "started") == "Doing"
    assert choose_state(states, "started", "started") == ""
    assert choose_state(states, "started", "review") == "In Review"
    assert choose_state([each for each in states if each["id"] != "In Review"], "started", "review") == ""
    assert choose_state(states, "started", "done") == "Done"
    assert choose_state(states, "canceled", "review") == "" and choose_state(states, "completed", "done") == ""


def test_activities_have_ids_of_their_own_and_only_sessions_hear_them() -> None:
    assert activity_id("a") == activity_id("a") != activity_id("b") and activity_id("a")[14] == "4"
    channel = LinearChannel(None)  # type: ignore[arg-type] - it only writes here
    event = {"type": "approval", "state": "requested", "argv": ["rm", "x"], "why": "", "taskId": "t", "seq": 3}
    assert channel.write(event, ReportedTask("t", lambda: TaskOrigin("github:a/b#1"))) == []
    [letter] = channel.write(event, ReportedTask("t", lambda: TaskOrigin("linear:s")))
    activity = json.loads(letter.body)["activity"]
    assert activity["content"]["type"] == "elicitation" and "`rm x`" in activity["content"]["body"]
    assert activity["signal"] == "select"


def test_only_a_plain_yes_or_no_decides_and_only_the_newest_open_question_is_answered() -> None:
    assert [decide(text) for text in ("Allow", " yes. ", "NO", "yes, but not now", "don't allow")] == [
        "allow",
        "allow",
        "deny",
        None,
        None,
    ]
    asked = {"type": "question", "questionId": "q", "state": "asked", "choices": ["Keep", "Drop"]}
    old = {"type": "approval", "approvalId": "a", "state": "requested"}
    assert waiting_for([old, asked]) == asked
    assert waiting_for([old, asked, {**asked, "state": "answered"}]) == old
    assert waiting_for([old, {**old, "state": "denied"}]) is None
    assert choose(asked, "keep") == "Keep" and choose(asked, "maybe") == ""


def test_urgent_issues_come_first_and_those_of_other_agents_never() -> None:
    def issue(name: str, priority: int, **more: object) -> dict[str, object]:
        return {"id": name, "priority": priority, "state": {"type": "unstarted"}, "createdAt": name, **more}

    taken = issue("z", 1, delegate={"id": "other"})
    begun = issue("y", 1, state={"type": "started"})
    listed = [issue("c", 0), issue("b", 4), taken, begun, issue("d", 1), issue("a", 4)]
    assert [each["id"] for each in in_order(listed)] == ["d", "a", "b", "c"]


def test_events_have_the_names_that_other_programs_know() -> None:
    for event, name in (
        ({"type": "status", "status": "queued"}, "brain/task.requested"),
        ({"type": "step"}, "brain/task.progress"),
        ({"type": "complete"}, "brain/task.completed"),
        ({"type": "error"}, "brain/task.failed"),
        ({"type": "route", "intent": "create_project"}, "brain/project.create"),
        ({"type": "route", "intent": "chat"}, "brain/route"),
    ):
        assert event_name(event) == name
