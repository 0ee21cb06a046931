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


def test_what_cannot_be_rewound_says_why(sidecar: RunningSidecar) -> None:
    task_id = run_edits(sidecar, write("a.txt", "one\n"))
    answer = sidecar.post(f"/api/brain/tasks/{task_id}/rewind", {"seq": 10_000})
    assert (answer.status, answer.json["code"]) == (422, "unknown_event")
    answer = sidecar.post(f"/api/brain/tasks/{task_id}/hunks", {"reject": ["nope"]})
    assert (answer.status, answer.json["code"]) == (422, "unknown_hunk")
    assert sidecar.get("/api/brain/tasks/t_nobody/diff").status == 404
