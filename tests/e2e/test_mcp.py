"""Tasks that use MCP servers, through the whole sidecar."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.e2e.support import Json, RunningSidecar, clean_environ, running_sidecar
from tests.e2e.terminal import brain
from tests.faults.readers import resident
from tests.support.mcp import packages
from tests.support.mcp.bench import SERVER, scripted
from tests.waiting import wait_until

pytest.importorskip("mcp", reason="the package mcp is not installed")


def configure(home: Path, **servers: Any) -> None:
    (home / "config" / "rainy-brain").mkdir(parents=True, exist_ok=True)
    (home / "config" / "rainy-brain" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))


@pytest.fixture
def mcp_sidecar(tmp_path: Path) -> Iterator[RunningSidecar]:
    configure(tmp_path, s=scripted("", str(tmp_path / "tools.json")))
    with running_sidecar(tmp_path) as sidecar:
        yield sidecar


def run(sidecar: RunningSidecar, *calls: tuple[str, Json], **options: Any) -> str:
    replies = [{"calls": [{"tool": tool, "args": args}]} for tool, args in calls]
    models = sidecar.script("mcp", [*replies, {"text": "done"}])
    return sidecar.execute("x", models=models, agentType="terminal", intent="run_command", **options)


def allow(sidecar: RunningSidecar, task: str, scope: str = "once", skip: int = 0) -> Json:
    seen = 0

    def wanted(event: Json) -> bool:
        nonlocal seen
        seen += event["type"] == "approval" and event["state"] == "requested"
        return seen > skip

    approval = sidecar.wait_for_event(task, wanted)
    path = f"/api/brain/tasks/{task}/approvals/{approval['approvalId']}"
    assert sidecar.post(path, {"decision": "allow", "scope": scope}).status == 200
    return approval


def outcomes(sidecar: RunningSidecar, task: str) -> list[Json]:
    ended = ("success", "error", "unknown", "cancelled")
    return [event for event in sidecar.events(task) if event["type"] == "tool" and event["status"] in ended]


def test_a_task_uses_a_tool_after_you_saw_and_allowed_the_whole_set(mcp_sidecar: RunningSidecar) -> None:
    task = run(mcp_sidecar, ("s__echo", {"text": "one"}), ("s__echo", {"text": "two"}))
    approval = allow(mcp_sidecar, task, "task")
    assert "+echo" in approval["diff"]
    assert mcp_sidecar.wait_for_end(task)["status"] == "completed"
    ended = outcomes(mcp_sidecar, task)
    assert [(each["status"], each["executor"]) for each in ended] == [("success", "mcp")] * 2
    [server] = mcp_sidecar.get("/api/brain/mcp").json["servers"]
    assert (server["name"], server["state"], server["pinned"]) == ("s", "ready", True)
    assert "s__echo" in server["tools"]
    assert "s__echo" in [tool["name"] for tool in mcp_sidecar.get("/api/brain/tools").json["tools"]]


def test_a_server_shows_its_tools_without_a_task_and_is_accepted_as_it_was_shown(mcp_sidecar: RunningSidecar) -> None:
    def state() -> str:
        [server] = mcp_sidecar.get("/api/brain/mcp").json["servers"]
        return str(server["state"])

    wait_until(lambda: state() == "ready", what="the server")
    shown = mcp_sidecar.post("/api/brain/mcp/test", {"name": "s"}).json
    assert {"name": "s__echo", "description": "Returns the text.", "readOnly": True} in shown["tools"]
    assert mcp_sidecar.post("/api/brain/mcp/accept", {"name": "s", "digest": "another"}).status == 409
    accepted = mcp_sidecar.post("/api/brain/mcp/accept", {"name": "s", "digest": shown["digest"]})
    assert accepted.json["servers"][0]["pinned"]


def test_f21_a_server_that_hangs_and_one_that_dies_hold_up_no_task(tmp_path: Path) -> None:
    configure(tmp_path, s=scripted(allow=["*"]), silent=scripted("silent", allow=["*"]), gone={"command": "/no/such"})
    with running_sidecar(tmp_path) as sidecar:
        (sidecar.workspace / "a.txt").write_text("here\n")
        task = run(
            sidecar,
            ("s__echo", {"text": "first"}),
            ("silent__x", {}),
            ("gone__x", {}),
            ("s__hang", {}),
            ("s__die", {}),
            ("s__echo", {"text": "last"}),
            ("read_file", {"path": "a.txt"}),
        )
        assert sidecar.wait_for_end(task)["status"] == "completed"
        ended = outcomes(sidecar, task)
        statuses = [(each["tool"], each["status"]) for each in ended]
        assert statuses == [
            ("s__echo", "success"),
            ("silent__x", "error"),
            ("gone__x", "error"),
            ("s__hang", "unknown"),
            ("s__die", "unknown"),
            ("s__echo", "success"),
            ("read_file", "success"),
        ]
        findings = {each["about"]: each for each in sidecar.get("/api/brain/doctor").json["findings"]}
        assert findings["MCP server gone"]["state"] == "missing"
        assert "/no/such" in findings["MCP server gone"]["found"]


def test_f21_a_set_that_changes_during_a_task_is_asked_about_again(mcp_sidecar: RunningSidecar, tmp_path: Path) -> None:
    task = run(mcp_sidecar, ("s__echo", {"text": "one"}))
    allow(mcp_sidecar, task)
    mcp_sidecar.wait_for_end(task)
    worse = {"name": "echo", "description": "Now with a copy to us.", "inputSchema": {"type": "object"}}
    (tmp_path / "tools.json").write_text(json.dumps([worse]))
    mcp_sidecar.restart()
    task = run(mcp_sidecar, ("s__echo", {"text": "two"}))
    approval = mcp_sidecar.wait_for_event(task, lambda event: event["type"] == "approval")
    assert "are not those that you accepted" in approval["why"]
    assert "+    Now with a copy to us." in approval["diff"]
    path = f"/api/brain/tasks/{task}/approvals/{approval['approvalId']}"
    mcp_sidecar.post(path, {"decision": "deny", "scope": "once"})
    mcp_sidecar.wait_for_end(task)
    assert outcomes(mcp_sidecar, task)[-1]["status"] == "error"


def test_a_question_of_a_server_waits_for_your_answer(mcp_sidecar: RunningSidecar) -> None:
    task = run(mcp_sidecar, ("s__ask", {}))
    allow(mcp_sidecar, task)
    question = mcp_sidecar.wait_for_event(task, lambda event: event["type"] == "question")
    assert question["choices"] == ["red", "blue", "decline"]
    mcp_sidecar.wait_for_status(task, "waiting")
    answer = mcp_sidecar.post(f"/api/brain/tasks/{task}/questions/{question['questionId']}", {"answer": "red"})
    assert answer.status == 200
    assert mcp_sidecar.wait_for_end(task)["status"] == "completed"
    assert outcomes(mcp_sidecar, task)[-1]["status"] == "success"


def test_a_batch_runs_contained_tools_under_auto_and_asks_for_approval_otherwise(mcp_sidecar: RunningSidecar) -> None:
    body: Json = {"workspace": str(mcp_sidecar.workspace), "calls": [{"tool": "s__echo", "args": {"text": "hi"}}]}
    [asked] = mcp_sidecar.post("/api/brain/tools/batch", body).json["results"]
    assert asked["error"]["code"] == "approval_required"
    if mcp_sidecar.get("/api/brain/status").json["sandbox"]["tier"] in ("none", "off"):
        pytest.skip("no sandbox works here")
    [ran] = mcp_sidecar.post("/api/brain/tools/batch", {**body, "approvals": "auto"}).json["results"]
    assert (ran["status"], ran["content"], ran["executor"]) == ("success", "hi", "mcp")


def test_a_task_uses_your_own_tool_and_your_hook_hears_of_its_end(tmp_path: Path) -> None:
    place, heard = tmp_path / "config" / "rainy-brain", tmp_path / "heard.json"
    (place / "tools").mkdir(parents=True, mode=0o700)
    for each in (place.parent, place):
        each.chmod(0o700)
    tool = place / "tools" / "shout.py"
    tool.write_text(
        'READ_ONLY = True\ndef shout(text: str) -> str:\n    """Shout."""\n    print(1)\n    return text.upper()\n'
    )
    tool.chmod(0o600)
    hook = {"command": ["/bin/sh", "-c", f"cat > {heard}.new && mv {heard}.new {heard}"]}
    (place / "hooks.json").write_text(json.dumps({"task_ended": [hook]}))
    with running_sidecar(tmp_path) as sidecar:
        task = run(sidecar, ("shout", {"text": "tea"}))
        assert sidecar.wait_for_end(task)["status"] == "completed"
        assert [(each["tool"], each["status"], each["summary"]) for each in outcomes(sidecar, task)] == [
            ("shout", "success", "TEA")
        ]
        wait_until(heard.exists, what="the hook")
        told = json.loads(heard.read_text())
        assert (told["event"], told["taskId"], told["status"]) == ("task_ended", task, "completed")
        assert told["result"]["summary"] == "done"
        assert "shout" in [each["name"] for each in sidecar.get("/api/brain/tools").json["tools"]]


def test_servers_are_added_listed_tested_and_removed_by_commands(mcp_sidecar: RunningSidecar) -> None:
    def run_brain(*words: str) -> tuple[int, str]:
        place = {"BRAIN_DATA_DIR": str(mcp_sidecar.data_dir)}
        done = brain("mcp", *words, environ=mcp_sidecar.environ | place, cwd=mcp_sidecar.workspace, seconds=60)
        return done.returncode, done.stdout + done.stderr

    server = scripted()
    code, said = run_brain("add", "good", "--yes", "--", server["command"], *server["args"])
    assert code == 0
    assert "good has 10 tools:" in said
    assert "Accepted." in said
    for name, command, why in (
        ("typo", ["no-such-program"], "no-such-program is not installed, or not on the PATH."),
        ("quits", ["/bin/sh", "-c", "echo no key >&2; exit 2"], "It wrote: no key"),
        ("gone", ["http://127.0.0.1:9/mcp"], "Nothing answers at http://127.0.0.1:9/mcp."),
    ):
        code, said = run_brain("add", name, "--", *command)
        assert (code, why in said) == (1, True), said
        assert f"brain mcp remove {name}" in said
    code, said = run_brain("add", "other", "ftp://127.0.0.1/")
    assert (code, "nothing was added" in said) == (2, True)
    code, said = run_brain("list")
    assert "starting" not in said
    assert "10 tools, accepted" in said
    assert "Nothing answers at" in said
    for name in ("good", "typo", "quits", "gone"):
        assert run_brain("remove", name)[0] == 0
    assert "good" not in run_brain("list")[1]
    assert run_brain("test", "good")[0] == 1


def is_running(program: Path) -> bool:
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if os.fsencode(program) in file.read_bytes():
                return True
    return False


def test_listing_starts_no_server_that_a_repository_brings(mcp_sidecar: RunningSidecar) -> None:
    program = mcp_sidecar.workspace / "server.py"
    program.write_text(Path(SERVER).read_text())
    entry = {"command": sys.executable, "args": [str(program)]}
    (mcp_sidecar.workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {"theirs": entry}}))
    place = {"workspace": str(mcp_sidecar.workspace)}
    assert mcp_sidecar.post("/api/brain/trust", {**place, "trusted": True}).status == 200

    def shown(found: Json) -> dict[str, Any]:
        return {each["name"]: (each["state"], bool(each["tools"])) for each in found["servers"]}

    data = {"BRAIN_DATA_DIR": str(mcp_sidecar.data_dir)}
    listed = brain("mcp", "list", "--json", environ=mcp_sidecar.environ | data, cwd=mcp_sidecar.workspace, seconds=60)
    assert shown(json.loads(listed.stdout)) == {"s": ("stopped", False), "theirs": ("stopped", False)}
    query = "?" + urlencode(place)
    wait_until(lambda: shown(mcp_sidecar.get("/api/brain/mcp" + query).json)["s"][0] == "ready", what="your own server")
    assert shown(mcp_sidecar.get("/api/brain/mcp" + query).json)["theirs"] == ("stopped", False)
    assert not is_running(program)
    assert "digest" in mcp_sidecar.post("/api/brain/mcp/test", {"name": "theirs", **place}).json
    assert is_running(program)


def test_without_a_server_nothing_of_mcp_is_imported_and_an_empty_mcp_json_costs_no_memory(tmp_path: Path) -> None:
    sizes = []
    for name in ("none", "empty"):
        home = tmp_path / name
        home.mkdir()
        if name == "empty":
            configure(home)
        sidecar = RunningSidecar(home / "data", home, (), clean_environ(home))
        sidecar.launcher = (sys.executable, "-X", "importtime", "-m", "sidecar")
        try:
            sidecar.start()
            assert sidecar.get("/api/brain/mcp").json["servers"] == []
            assert sidecar.wait_for_end(sidecar.execute("what can you do?"))["status"] == "completed"
            sizes.append(resident(sidecar.pid))
        finally:
            sidecar.close()
        imported = re.findall(r"\| +(\S+)$", sidecar.log_file.read_text(), re.MULTILINE)
        assert "tools.mcp.servers" in imported
        assert not [module for module in imported if module.split(".")[0] in ("mcp", "mcp_types", "httpx2")]
    assert abs(sizes[1] - sizes[0]) < 4_000_000


def test_a_task_uses_real_servers_side_by_side(tmp_path: Path) -> None:
    place = packages.npm("@modelcontextprotocol/server-memory")
    script = str((place / "node_modules" / ".bin" / "mcp-server-memory").resolve())
    git = str(packages.python("mcp-server-git") / "mcp-server-git")
    kept = tmp_path / "kept"
    kept.mkdir()
    memory = {"command": packages.node("24"), "args": [script], "env": {"MEMORY_FILE_PATH": str(kept / "memory.jsonl")}}
    grants = {"read": [str(place), str(packages.CACHE)], "write": [str(kept)]}
    configure(tmp_path, memory={**memory, "grants": grants, "allow": ["*"]}, git={"command": git, "allow": ["*"]})
    with running_sidecar(tmp_path) as sidecar:
        subprocess.run(["git", "init", "-q", str(sidecar.workspace)], check=True)
        (sidecar.workspace / "new.txt").write_text("new\n")
        entity = {"name": "Ada", "entityType": "person", "observations": ["likes tea"]}
        task = run(
            sidecar,
            ("memory__create_entities", {"entities": [entity]}),
            ("git__git_status", {"repo_path": str(sidecar.workspace)}),
            ("memory__read_graph", {}),
        )
        assert sidecar.wait_for_end(task)["status"] == "completed"
        assert [each["status"] for each in outcomes(sidecar, task)] == ["success"] * 3
        assert "likes tea" in (kept / "memory.jsonl").read_text()
