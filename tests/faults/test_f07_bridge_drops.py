"""F7: the bridge drops in mid-call, before and after the effect; results come twice, and from strangers."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e.bridge import RawShell, raw_shell, shell_process
from tests.e2e.support import Json, RunningSidecar, running_sidecar
from tests.waiting import SECONDS, wait_until

COMMAND = {"calls": [{"tool": "run_command", "args": {"command": "echo once >> log.txt"}}]}


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[RunningSidecar]:
    with running_sidecar(tmp_path) as running:
        yield running


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as made:
        yield made


class EditorShell:
    """A shell by hand with a log of its own, as the wire asks for: it acts on an id once, and answers it each time."""

    def __init__(self, workspace: Path) -> None:
        self.answers: dict[str, str] = {}
        self.session = ""
        self._workspace = workspace

    def hello(self, connection: RawShell) -> Json:
        known = {"session": self.session} if self.session else {}
        welcome = connection.hello("run_command", **known)
        self.session = welcome["session"]
        return welcome

    def act(self, call: Json) -> str:
        if call["id"] not in self.answers:
            with (self._workspace / "log.txt").open("a") as log:
                log.write("once\n")
            self.answers[call["id"]] = f"done {call['id']}"
        return self.answers[call["id"]]


def start(sidecar: RunningSidecar, name: str = "once", **options: object) -> str:
    models = sidecar.script(name, [COMMAND, {"text": "done"}])
    settings = {"approvals": "auto", "intent": "run_command", "agentType": "terminal"} | options
    return sidecar.execute("x", models=models, **settings)


def outcome(sidecar: RunningSidecar, task_id: str) -> Json:
    return [event for event in sidecar.events(task_id) if event["type"] == "tool"][-1]


def test_f07_dropped_before_the_effect(sidecar: RunningSidecar) -> None:
    editor = EditorShell(sidecar.workspace)
    with raw_shell(sidecar) as connection:
        editor.hello(connection)
        task_id = start(sidecar)
        first = connection.next("tool_call")
    with raw_shell(sidecar) as connection:
        welcome = editor.hello(connection)
        assert [each["id"] for each in welcome["open"]] == [first["id"]]
        again = connection.next("tool_call")
        assert again == first
        connection.result(again["id"], editor.act(again))
        assert sidecar.wait_for_end(task_id)["status"] == "completed"
    assert outcome(sidecar, task_id)["status"] == "success"
    assert (sidecar.workspace / "log.txt").read_text() == "once\n"


@pytest.mark.parametrize("drops", [1, 3])
def test_f07_dropped_after_the_effect(sidecar: RunningSidecar, drops: int) -> None:
    editor = EditorShell(sidecar.workspace)
    task_id = ""
    for number in range(drops):
        with raw_shell(sidecar) as connection:
            editor.hello(connection)
            task_id = task_id or start(sidecar)
            editor.act(connection.next("tool_call"))
            if number % 2:
                connection.socket.socket.close()  # without a word, as when a cable is pulled
    with raw_shell(sidecar) as connection:
        editor.hello(connection)
        call = connection.next("tool_call")
        connection.result(call["id"], editor.act(call))
        assert sidecar.wait_for_end(task_id)["status"] == "completed"
    assert outcome(sidecar, task_id)["status"] == "success"
    assert (sidecar.workspace / "log.txt").read_text() == "once\n"


def test_f07_results_that_come_twice_or_from_strangers_count_once(sidecar: RunningSidecar) -> None:
    editor = EditorShell(sidecar.workspace)
    with raw_shell(sidecar) as connection, raw_shell(sidecar) as stranger:
        stranger.hello("read_file")
        editor.hello(connection)
        task_id = start(sidecar)
        call = connection.next("tool_call")
        stranger.result(call["id"], "forged")
        assert stranger.next("error")["error"]["code"] == "unknown_call"
        connection.result("never-called", "forged")
        assert connection.next("error")["id"] == "never-called"
        connection.result(call["id"], editor.act(call))
        for _ in range(3):
            connection.result(call["id"], "again")
        assert sidecar.wait_for_end(task_id)["status"] == "completed"
        connection.result(call["id"], "long after")
        connection.socket.send("{}")
        assert connection.next("error")["error"]["code"] == "bad_frame"  # the duplicates were passed over in silence
    events = [event for event in sidecar.events(task_id) if event["type"] == "tool" and event["status"] == "success"]
    assert len(events) == 1 and events[0]["summary"] == f"done {call['id']}"


def test_f07_a_shell_that_does_not_return_leaves_unknown(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, BRAIN_BRIDGE_RECONNECT_SECONDS="0.2") as sidecar:
        with raw_shell(sidecar) as connection:
            EditorShell(sidecar.workspace).hello(connection)
            task_id = start(sidecar)
            connection.next("tool_call")
        sidecar.wait_for_end(task_id)
        assert outcome(sidecar, task_id)["status"] == "unknown"
        assert not (sidecar.workspace / "log.txt").exists()


def test_f07_what_a_lost_shell_was_asked_to_read_is_read_here(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, BRAIN_BRIDGE_RECONNECT_SECONDS="0.2") as sidecar:
        (sidecar.workspace / "a.py").write_text("x = 1  # TODO: more\n")
        with raw_shell(sidecar) as connection:
            connection.hello("search_code")
            task_id = sidecar.execute("find all TODOs")
            connection.next("tool_call")
        assert sidecar.wait_for_end(task_id)["status"] == "completed"
        last = outcome(sidecar, task_id)
        assert (last["status"], last["executor"]) == ("success", "local")


def test_f07_an_edit_whose_shell_left_while_you_were_asked_is_made_here_and_can_be_undone(
    sidecar: RunningSidecar,
) -> None:
    edited = sidecar.workspace / "a.txt"
    edited.write_text("old\n")
    edit = {"calls": [{"tool": "write_file", "args": {"path": "a.txt", "content": "new\n"}}]}
    models = sidecar.script("edit", [edit, {"text": "done"}])
    with raw_shell(sidecar) as connection:
        connection.hello("write_file")
        task_id = sidecar.execute("x", models=models, approvals="edits", intent="edit_code", verify="off")
        asked = sidecar.wait_for_event(task_id, lambda event: event["type"] == "approval")
    wait_until(
        lambda: not any(each["connected"] for each in sidecar.get("/api/brain/status").json["shells"]), what="end"
    )
    url = f"/api/brain/tasks/{task_id}"
    assert sidecar.post(f"{url}/approvals/{asked['approvalId']}", {"decision": "allow"}).status == 200
    sidecar.wait_for_end(task_id)
    assert (outcome(sidecar, task_id)["executor"], edited.read_text()) == ("local", "new\n")
    assert [file["path"] for file in sidecar.get(f"{url}/diff").json["files"]] == ["a.txt"]
    assert sidecar.post(f"{url}/rewind", {"seq": 0}).status == 200
    assert edited.read_text() == "old\n"


@pytest.mark.parametrize(("choice", "lines"), [("again", "once\n"), ("skip", None)])
def test_f07_and_where_a_user_is_there_they_are_asked(tmp_path: Path, choice: str, lines: str | None) -> None:
    with running_sidecar(tmp_path, BRAIN_BRIDGE_RECONNECT_SECONDS="0.2") as sidecar:
        with raw_shell(sidecar) as connection:
            EditorShell(sidecar.workspace).hello(connection)
            task_id = start(sidecar, approvals="ask")
            first = sidecar.wait_for_event(task_id, lambda event: event["type"] == "approval")
            url = f"/api/brain/tasks/{task_id}"
            assert sidecar.post(f"{url}/approvals/{first['approvalId']}", {"decision": "allow"}).status == 200
            connection.next("tool_call")
        asked = sidecar.wait_for_event(task_id, lambda event: event["type"] == "question")
        assert "may have" in asked["text"]
        (answer,) = [each for each in asked["choices"] if choice in each.lower()]
        assert sidecar.post(f"{url}/questions/{asked['questionId']}", {"answer": answer}).status == 200
        sidecar.wait_for_end(task_id)
        log = sidecar.workspace / "log.txt"
        assert (log.read_text() if log.exists() else None) == lines
        assert outcome(sidecar, task_id)["status"] == ("success" if lines else "unknown")


@pytest.mark.parametrize("acted", [False, True])
def test_f07_a_killed_sidecar_sends_an_open_call_again_to_the_session_that_had_it(
    sidecar: RunningSidecar, acted: bool
) -> None:
    editor = EditorShell(sidecar.workspace)
    with raw_shell(sidecar) as connection:
        editor.hello(connection)
        task_id = start(sidecar)
        first = connection.next("tool_call")
        if acted:
            editor.act(first)
        sidecar.kill()
    sidecar.start()
    with raw_shell(sidecar) as connection:
        editor.hello(connection)
        again = connection.next("tool_call")
        assert again["id"] == first["id"]
        connection.result(again["id"], editor.act(again))
        assert sidecar.wait_for_end(task_id)["status"] == "completed"
    assert outcome(sidecar, task_id)["status"] == "success"
    assert (sidecar.workspace / "log.txt").read_text() == "once\n"


def test_f07_after_a_kill_no_other_shell_gets_an_open_call(sidecar: RunningSidecar) -> None:
    editor, other = EditorShell(sidecar.workspace), EditorShell(sidecar.workspace)
    with raw_shell(sidecar) as theirs, raw_shell(sidecar) as connection:
        other.hello(theirs)
        editor.hello(connection)
        task_id = start(sidecar)
        connection.next("tool_call")
        sidecar.kill()
    sidecar.start()
    with raw_shell(sidecar) as theirs:
        other.hello(theirs)
        sidecar.wait_for_end(task_id)
    assert outcome(sidecar, task_id)["status"] == "unknown"
    assert not (sidecar.workspace / "log.txt").exists()


def test_f07_the_reference_shell_answers_from_its_log(sidecar: RunningSidecar, pool: ThreadPoolExecutor) -> None:
    """The sidecar is killed while the shell runs a command: its new life gets the answer of the one run there was."""
    slow = {
        "calls": [
            {"tool": "run_command", "args": {"command": "echo once >> log.txt; until [ -e go ]; do sleep 0.02; done"}}
        ]
    }
    models = sidecar.script("slow", [slow, {"text": "done"}])
    log = sidecar.workspace / "log.txt"
    with shell_process(sidecar) as shell:
        options = {"approvals": "auto", "intent": "run_command", "agentType": "terminal"}
        task_id = sidecar.execute("x", models=models, **options)
        wait_until(log.exists, what="the command")
        sidecar.kill()
        back: Future[Json] = pool.submit(shell.connected)
        sidecar.start()
        back.result(SECONDS)
        (sidecar.workspace / "go").touch()
        sidecar.wait_for_end(task_id)
        done = outcome(sidecar, task_id)
        assert (done["status"], done["executor"]) == ("success", "shell")
    assert log.read_text() == "once\n"
