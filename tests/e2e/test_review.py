"""Taking back what a task did, over HTTP."""

from tests.e2e.edits import run_edits, write
from tests.e2e.support import RunningSidecar


def test_a_hunk_is_rejected_and_the_rest_stays(sidecar: RunningSidecar) -> None:
    before = "".join(f"line {number}\n" for number in range(40))
    after = before.replace("line 5\n", "five\n").replace("line 35\n", "thirty-five\n")
    (sidecar.workspace / "a.txt").write_text(before)
    task_id = run_edits(sidecar, write("a.txt", after))
    (file,) = sidecar.get(f"/api/brain/tasks/{task_id}/diff").json["files"]
    assert (file["path"], file["change"], len(file["hunks"])) == ("a.txt", "modified", 2)
    answer = sidecar.post(f"/api/brain/tasks/{task_id}/hunks", {"reject": [file["hunks"][1]["id"]]})
    assert answer.status == 200
    assert (sidecar.workspace / "a.txt").read_text() == before.replace("line 5\n", "five\n")


def test_a_rewind_survives_a_restart_and_can_be_rewound(sidecar: RunningSidecar) -> None:
    task_id = run_edits(sidecar, write("a.txt", "one\n"), write("a.txt", "two\n"))
    last = sidecar.task(task_id)["lastSeq"]
    answer = sidecar.post(f"/api/brain/tasks/{task_id}/rewind", {"seq": 0})
    restored = [{"path": "a.txt", "change": "deleted"}]
    assert answer.json == {"seq": 0, "files": restored, "conflicts": [], "notRestored": []}
    assert not (sidecar.workspace / "a.txt").exists()
    sidecar.restart()
    assert sidecar.task(task_id)["status"] == "cancelled"
    assert sidecar.post(f"/api/brain/tasks/{task_id}/rewind", {"seq": last}).status == 200
    assert (sidecar.workspace / "a.txt").read_text() == "two\n"


def test_at_the_event_that_ends_a_call_its_change_is_there(sidecar: RunningSidecar) -> None:
    task_id = run_edits(sidecar, write("a.txt", "one\n"), write("a.txt", "two\n"))
    ends = [event["seq"] for event in sidecar.events(task_id) if event.get("status") == "success"]
    for seq, text in ((ends[0], "one\n"), (ends[1], "two\n"), (ends[0] - 1, None)):
        answer = sidecar.post(f"/api/brain/tasks/{task_id}/rewind", {"seq": seq}).json
        assert (answer["seq"], answer["conflicts"]) == (seq, [])
        path = sidecar.workspace / "a.txt"
        assert (path.read_text() if path.exists() else None) == text


def test_a_fork_from_the_end_of_a_call_has_its_change(sidecar: RunningSidecar) -> None:
    task_id = run_edits(sidecar, write("a.txt", "one\n"), write("a.txt", "two\n"))
    end = next(event["seq"] for event in sidecar.events(task_id) if event.get("status") == "success")
    models = sidecar.script("forked", [{}, {"text": "done"}])
    body = {"seq": end, "task": "go on", "options": {"models": models}}
    forked = sidecar.post(f"/api/brain/tasks/{task_id}/fork", body)
    task = sidecar.wait_for_end(forked.json["taskId"])
    assert (task["status"], task["forkedFrom"]["seq"]) == ("completed", end)
    assert (sidecar.workspace / "a.txt").read_text() == "one\n"


def test_what_cannot_be_rewound_says_why(sidecar: RunningSidecar) -> None:
    task_id = run_edits(sidecar, write("a.txt", "one\n"))
    answer = sidecar.post(f"/api/brain/tasks/{task_id}/rewind", {"seq": 10_000})
    assert (answer.status, answer.json["code"]) == (422, "unknown_event")
    answer = sidecar.post(f"/api/brain/tasks/{task_id}/hunks", {"reject": ["nope"]})
    assert (answer.status, answer.json["code"]) == (422, "unknown_hunk")
    assert sidecar.get("/api/brain/tasks/t_nobody/diff").status == 404
