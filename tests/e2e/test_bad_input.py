"""Bad input gets a problem document with a stable code and a sentence that helps, and loses nothing."""

import json

import pytest

from tests.e2e.support import Answer, RunningSidecar

EXECUTE = "/api/brain/execute"


def problem(answer: Answer) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json
    assert body["status"] == answer.status
    assert body["title"]
    assert len(body["detail"]) > 10, "a sentence that helps"
    return answer.status, body["code"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"{", (400, "malformed_json")),
        (b"\xff\xfe", (400, "malformed_json")),
        (b"", (422, "invalid_request")),
        (b"[]", (422, "invalid_request")),
        (b"null", (422, "invalid_request")),
        ({"task": ""}, (422, "invalid_request")),
        ({"task": "   \n"}, (422, "invalid_request")),
        ({"task": 7}, (422, "invalid_request")),
        ({"task": None}, (422, "invalid_request")),
        ({"text": "hello"}, (422, "invalid_request")),
        ({"task": "x", "nonsense": 1}, (422, "invalid_request")),
        ({"task": "x" * 1_000_000}, (422, "invalid_request")),
        ({"task": "x", "options": {"priority": "urgent"}}, (422, "invalid_request")),
        ({"task": "x", "options": {"maxDuration": -1}}, (422, "invalid_request")),
        ({"task": "x", "options": {"maxDuration": "5"}}, (422, "invalid_request")),
        ({"task": "x", "options": {"maxIterations": True}}, (422, "invalid_request")),
        ({"task": "x", "options": {"approvals": "all"}}, (422, "invalid_request")),
        ({"task": "x", "options": {"intent": "dance"}}, (422, "invalid_request")),
        ({"task": "/exlpain x"}, (422, "unknown_command")),
        ({"task": "x", "context": {"workspace": "/no/such/place"}}, (422, "workspace_not_found")),
        ({"task": "x", "context": {"workspace": "relative"}}, (422, "workspace_not_absolute")),
        ({"task": "x", "context": {"workspace": "/etc/passwd"}}, (422, "workspace_not_found")),
        ({"task": "x", "context": {"workspace": "/a\0b"}}, (422, "workspace_not_absolute")),
        ({"task": "x", "context": {"workspace": "/" + "a" * 4_000}}, (422, "workspace_not_found")),
        ('{"task": "' + "[" * 100_000 + '"}', (202, "")),
        ("[" * 100_000, (400, "malformed_json")),
    ],
)
def test_what_execute_does_not_take(body: object, expected: tuple[int, str], sidecar: RunningSidecar) -> None:
    answer = sidecar.post(EXECUTE, body.encode() if isinstance(body, str) else body)
    if expected[0] == 202:
        assert answer.status == 202
        return
    assert problem(answer) == expected
    assert sidecar.get("/api/brain/tasks").json["tasks"] == []


def test_a_body_that_is_too_large_is_refused_by_its_length_and_by_its_bytes(sidecar: RunningSidecar) -> None:
    huge = json.dumps({"task": "x" * 9_000_000}).encode()
    assert problem(sidecar.post(EXECUTE, huge)) == (413, "body_too_large")


@pytest.mark.parametrize("word", ["yes", "no", "true", 1])
def test_only_a_switch_switches_trust(word: object, sidecar: RunningSidecar) -> None:
    asked = {"workspace": str(sidecar.workspace), "trusted": word}
    assert problem(sidecar.post("/api/brain/trust", asked)) == (422, "invalid_request")
    assert not any(each["trusted"] for each in sidecar.get("/api/brain/trust").json["workspaces"])


def test_other_media_types_are_refused(sidecar: RunningSidecar) -> None:
    for media_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        answer = sidecar.post(EXECUTE, b'{"task": "x"}', headers={"Content-Type": media_type})
        assert problem(answer) == (415, "not_json")


@pytest.mark.parametrize("media_type", ["application/octet-stream", "application/x-www-form-urlencoded"])
def test_a_request_without_a_body_may_name_any_media_type(media_type: str, sidecar: RunningSidecar) -> None:
    # aiohttp and `curl -d ''` name one for a POST that sends nothing.
    headers = {"Content-Type": media_type}
    task = sidecar.wait_for_end(sidecar.execute("list the files"))
    resumed = sidecar.post(f"/api/brain/tasks/{task['id']}/resume", b"", headers=headers)
    assert problem(resumed) == (409, "task_completed")
    assert sidecar.post("/api/brain/bridge/ticket", b"", headers=headers).status == 200
    assert problem(sidecar.post(EXECUTE, b"", headers=headers)) == (422, "invalid_request")


@pytest.mark.parametrize("operation", ["", "/stream", "/events", "/cancel", "/resume", "/messages", "/approvals/a"])
def test_an_unknown_task_is_not_found(operation: str, sidecar: RunningSidecar) -> None:
    path = f"/api/brain/tasks/t_nobody{operation}"
    bodies: dict[str, object] = {"/messages": {"text": "x"}, "/approvals/a": {"decision": "allow"}}
    reading = operation in ("", "/stream", "/events")
    answer = sidecar.get(path) if reading else sidecar.post(path, bodies.get(operation))
    assert problem(answer) == (404, "unknown_task")


def test_operations_that_do_not_fit_the_task_are_conflicts(sidecar: RunningSidecar) -> None:
    task = sidecar.wait_for_end(sidecar.execute("list the files"))
    path = f"/api/brain/tasks/{task['id']}"
    assert problem(sidecar.post(f"{path}/cancel")) == (409, "task_ended")
    assert problem(sidecar.post(f"{path}/resume")) == (409, "task_completed")
    models = sidecar.script("slow", [{"text": "x", "delayMs": 60_000}])
    running = sidecar.execute("x", models=models, intent="chat")
    sidecar.wait_for_status(running, "running")
    assert problem(sidecar.post(f"/api/brain/tasks/{running}/resume")) == (409, "task_active")


@pytest.mark.parametrize(
    "query",
    [
        "/api/brain/tasks?limit=x",
        "/api/brain/tasks?limit=-1",
        "/api/brain/tasks?limit=1001",
        "/api/brain/tasks?status=x",
    ],
)
def test_queries_that_say_nothing_sensible_are_refused(query: str, sidecar: RunningSidecar) -> None:
    assert problem(sidecar.get(query)) == (422, "invalid_request")


def test_a_field_that_is_null_counts_as_absent(sidecar: RunningSidecar) -> None:
    options = dict.fromkeys(("priority", "maxDuration", "approvals", "verify", "review", "models", "conversationId"))
    context = dict.fromkeys(("workspace", "currentFile", "openFiles", "attachments"))
    for body in ({"context": None, "options": None}, {"context": context, "options": options}):
        assert sidecar.post(EXECUTE, {"task": "list the files", **body}).status == 202
    batch = {"calls": [{"tool": "list_dir", "args": {}, "callId": None}], "parallel": None, "maxConcurrency": None}
    assert sidecar.post("/api/brain/tools/batch", batch).json["results"][0]["status"] == "success"


def test_a_batch_that_allows_many_calls_at_once_runs(sidecar: RunningSidecar) -> None:
    body = {"calls": [{"tool": "list_dir"}], "maxConcurrency": 64}
    assert sidecar.post("/api/brain/tools/batch", body).json["results"][0]["status"] == "success"
    assert problem(sidecar.post("/api/brain/tools/batch", {**body, "maxConcurrency": 0})) == (422, "invalid_request")


def test_a_page_holds_up_to_a_thousand_tasks(sidecar: RunningSidecar) -> None:
    assert sidecar.get("/api/brain/tasks?limit=1000").json == {"tasks": [], "nextBefore": None}


def test_a_resume_point_that_is_no_number_is_refused(sidecar: RunningSidecar) -> None:
    task_id = sidecar.execute("list the files")
    for after in ("x", "-1", "1e9", "٣", "9" * 40):
        answer = sidecar.get(
            f"/api/brain/tasks/{task_id}/stream", headers={"Last-Event-ID": after.encode().decode("latin-1")}
        )
        assert problem(answer) == (422, "invalid_request")


def test_what_is_not_there_and_what_cannot_be_done_there(sidecar: RunningSidecar) -> None:
    assert problem(sidecar.get("/api/brain/nothing")) == (404, "not_found")
    assert problem(sidecar.request("DELETE", "/api/brain/tasks")) == (405, "method_not_allowed")


def test_a_full_queue_says_when_to_come_back(sidecar: RunningSidecar) -> None:
    sidecar.environ |= {"BRAIN_MAX_TASKS": "1", "BRAIN_MAX_QUEUED": "1"}
    sidecar.restart()
    models = sidecar.script("slow", [{"text": "x", "delayMs": 60_000}])
    running = sidecar.execute("x", models=models, intent="chat")
    sidecar.wait_for_status(running, "running")
    sidecar.execute("list the files")
    answer = sidecar.post(EXECUTE, {"task": "list the files"})
    assert problem(answer) == (429, "queue_full")
    assert int(answer.headers["retry-after"]) > 0


@pytest.mark.parametrize(
    ("tool", "args", "why"),
    [
        ("read_file", {}, "the call is invalid: read_file: `path` is required."),
        ("read_file", {"path": "../secrets"}, "../secrets is outside the workspace"),
        ("write_file", {"path": "/etc/hosts", "content": ""}, "/etc/hosts is outside the workspace"),
        ("impact", {}, "the call is invalid: impact: name a symbol, a path, or both."),
        ("fetch_url", {"url": "file:///etc/hosts"}, "Only http and https URLs with a host can be fetched"),
    ],
)
def test_policy_denies_what_could_not_run_and_says_why(
    tool: str, args: object, why: str, sidecar: RunningSidecar
) -> None:
    answer = sidecar.post("/api/brain/policy/explain", {"tool": tool, "args": args})
    assert answer.json["decision"] == "deny"
    assert answer.json["why"].startswith(why)
    assert "pydantic" not in answer.json["why"] and ".." not in answer.json["why"].replace("../", "")


def test_policy_says_that_a_harmless_git_command_only_reads(sidecar: RunningSidecar) -> None:
    body = {"tool": "run_command", "args": {"command": "git log -5"}}
    sidecar.post("/api/brain/trust", {"workspace": str(sidecar.workspace), "trusted": True})
    answer = sidecar.post("/api/brain/policy/explain", body)
    assert answer.json == {"decision": "allow", "why": "git log with these options only reads"}
