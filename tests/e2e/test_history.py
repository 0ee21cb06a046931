"""The history over HTTP: search, titles, pins, the archive, deletion."""

from urllib.parse import urlencode

from tests.e2e.support import RunningSidecar


def listed(sidecar: RunningSidecar, **query: str) -> list[str]:
    answer = sidecar.request("GET", f"/api/brain/tasks?{urlencode(query)}")
    assert answer.status == 200, answer.body
    return [task["id"] for task in answer.json["tasks"]]


def test_the_history_is_searched_labelled_and_deleted(sidecar: RunningSidecar) -> None:
    (sidecar.workspace / "zebra_notes.md").write_text("stripes\n")
    first = sidecar.execute("list the files")
    second = sidecar.execute('search for "giraffe"')
    for task in (first, second):
        sidecar.wait_for_end(task)
    path = f"/api/brain/tasks/{first}"
    assert sidecar.request("GET", path).json["title"] == "list the files"
    # What was asked, and what was answered.
    assert listed(sidecar, q="giraffe") == [second]
    assert listed(sidecar, q="zebra_notes.md list") == [first]
    assert listed(sidecar, q="nosuchword") == listed(sidecar, q='"') == []
    assert listed(sidecar, workspace=str(sidecar.workspace)) == [second, first]
    assert listed(sidecar, workspace=str(sidecar.workspace.parent)) == []

    labelled = sidecar.request("PATCH", path, {"title": "  My   okapi ", "pinned": True})
    assert (labelled.json["title"], labelled.json["pinned"]) == ("My okapi", True)
    assert listed(sidecar, q="okapi") == listed(sidecar, pinned="true") == [first]
    assert sidecar.request("PATCH", path, {"archived": True}).json["title"] == "My okapi"
    assert listed(sidecar) == [second]
    assert listed(sidecar, archived="true") == [second, first]
    assert sidecar.events(first)[-1]["type"] == "label"
    for wrong in ({"title": " "}, {"title": "x" * 201}, {"colour": "red"}, {"pinned": "yes"}):
        assert sidecar.request("PATCH", path, wrong).status == 422
    assert sidecar.request("GET", "/api/brain/tasks?pinned=yes").status == 422

    assert sidecar.request("DELETE", path).json == {"deleted": first}
    assert sidecar.request("DELETE", path).status == sidecar.request("GET", path).status == 404
    assert listed(sidecar, archived="true") == [second]
    assert listed(sidecar, q="okapi", archived="true") == []


def test_a_task_that_has_not_ended_is_not_deleted(sidecar: RunningSidecar) -> None:
    task = sidecar.execute("run `sleep 60`", approvals="auto")
    sidecar.wait_for_event(task, lambda event: event["type"] == "tool" and event["status"] == "running")
    refused = sidecar.request("DELETE", f"/api/brain/tasks/{task}")
    assert (refused.status, refused.json["code"]) == (409, "task_active")
    sidecar.request("POST", f"/api/brain/tasks/{task}/cancel")
    sidecar.wait_for_end(task)
    assert sidecar.request("DELETE", f"/api/brain/tasks/{task}").status == 200
