"""The bridge of the real process: raw frames by the letter, several shells, the reference shell."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.bridge import raw_shell, shell_process
from tests.e2e.support import Json, RunningSidecar, running_sidecar
from tests.waiting import SECONDS, wait_until


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as made:
        yield made


def batch(sidecar: RunningSidecar, *calls: tuple[str, dict[str, Any]], workspace: Path | None = None) -> list[Json]:
    wanted = [{"tool": tool, "args": args} for tool, args in calls]
    place = str(workspace or sidecar.workspace)
    answer = sidecar.post("/api/brain/tools/batch", {"workspace": place, "calls": wanted, "approvals": "auto"})
    assert answer.status == 200, answer.body
    results: list[Json] = answer.json["results"]
    return results


def test_with_no_shell_the_sidecar_runs_a_tool_itself(sidecar: RunningSidecar) -> None:
    (sidecar.workspace / "a.txt").write_text("here\n")
    (result,) = batch(sidecar, ("read_file", {"path": "a.txt"}))
    assert (result["status"], result["executor"]) == ("success", "local")


def test_a_shell_carries_out_what_it_offers_and_the_sidecar_the_rest(
    sidecar: RunningSidecar, pool: ThreadPoolExecutor
) -> None:
    (sidecar.workspace / "a.txt").write_text("disk\n")
    with raw_shell(sidecar) as shell:
        assert shell.socket.subprotocol == "rainy.bridge.v1"
        welcome = shell.hello("read_file")
        assert welcome["open"] == [] and welcome["session"] and welcome["heartbeatSeconds"] > 0
        asked = pool.submit(batch, sidecar, ("read_file", {"path": "a.txt"}), ("list_dir", {}))
        call = shell.next("tool_call")
        assert call["tool"] == "read_file" and call["args"] == {"path": "a.txt"}
        assert call["workspace"] == str(sidecar.workspace) and call["timeoutMs"] > 0
        shell.result(call["id"], "buffer", details={"path": "a.txt"})
        read, listed = asked.result(SECONDS)
        assert (read["content"], read["executor"], read["details"]) == ("buffer", "shell", {"path": "a.txt"})
        assert listed["executor"] == "local" and "a.txt" in listed["content"]
    wait_until(
        lambda: batch(sidecar, ("read_file", {"path": "a.txt"}))[0]["executor"] == "local", what="the local tool"
    )


def test_a_tasks_events_say_shell_and_carry_its_output(sidecar: RunningSidecar, pool: ThreadPoolExecutor) -> None:
    reply = {"calls": [{"tool": "run_command", "args": {"command": "make"}}]}
    models = sidecar.script("make", [reply, {"text": "built"}])
    with raw_shell(sidecar) as shell:
        shell.hello("run_command")
        task_id = sidecar.execute("x", models=models, approvals="auto", intent="run_command", agentType="terminal")
        call = shell.next("tool_call")
        with sidecar.stream(task_id) as events:
            shell.send(type="stream", id=call["id"], stream="stdout", text="compiling\n")
            output = next(event for event in events if event["type"] == "tool_output")
            assert (output["text"], output["callId"]) == ("compiling\n", call["id"])
            shell.result(call["id"], "compiled", details={"exitCode": 0})
            done = next(event for event in events if event["type"] == "tool" and event["status"] == "success")
        assert done["executor"] == "shell" and done["callId"] == call["id"]
        assert sidecar.wait_for_end(task_id)["status"] == "completed"


def test_cancelling_a_task_reaches_the_shell_and_waits_for_it(sidecar: RunningSidecar) -> None:
    reply = {"calls": [{"tool": "run_command", "args": {"command": "sleep 60"}}]}
    models = sidecar.script("sleep", [reply, {"text": "done"}])
    with raw_shell(sidecar) as shell:
        shell.hello("run_command")
        task_id = sidecar.execute("x", models=models, approvals="auto", intent="run_command", agentType="terminal")
        call = shell.next("tool_call")
        assert sidecar.post(f"/api/brain/tasks/{task_id}/cancel").status == 202
        assert shell.next("cancel") == {"type": "cancel", "id": call["id"]}
        assert sidecar.task(task_id)["status"] == "cancelling"
        killed = [{"pid": 4711, "command": "sleep 60"}]
        shell.send(type="error", id=call["id"], error={"code": "cancelled", "message": "stopped"}, killed=killed)
        assert sidecar.wait_for_end(task_id)["status"] == "cancelled"
    (ended,) = [event for event in sidecar.events(task_id) if event["type"] == "cancelled"]
    assert [each["pid"] for each in ended["killed"]] == [4711]


def test_several_shells_each_with_its_workspace(
    sidecar: RunningSidecar, pool: ThreadPoolExecutor, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with raw_shell(sidecar) as here, raw_shell(sidecar) as there:
        here.hello("read_file")
        there._workspace = str(other)
        there.hello("read_file")
        asked: list[Future[list[Json]]] = [
            pool.submit(batch, sidecar, ("read_file", {"path": "a"}), workspace=place)
            for place in (sidecar.workspace, other)
        ]
        for shell, name in ((here, "here"), (there, "there")):
            shell.result(shell.next("tool_call")["id"], name)
        assert [each.result(SECONDS)[0]["content"] for each in asked] == ["here", "there"]


def test_bad_frames_are_answered_and_the_connection_lives(sidecar: RunningSidecar, pool: ThreadPoolExecutor) -> None:
    with raw_shell(sidecar) as shell:
        shell.hello("read_file")
        for text in ("", "nonsense", "[]", '{"type":"?"}', '{"type":"tool_result"}', "{" * 10_000):
            shell.socket.send(text)
            assert shell.next("error")["error"]["code"]
        shell.socket.send(b"bytes")
        shell.next("error")
        shell.socket.send("x" * (16 * 1024 * 1024 + 1))
        assert shell.next("error")["error"]["code"] == "frame_too_large"
        asked = pool.submit(batch, sidecar, ("read_file", {"path": "a"}))
        shell.result(shell.next("tool_call")["id"], "still here")
        assert asked.result(SECONDS)[0]["content"] == "still here"
    assert sidecar.get("/health").status == 200


def test_the_reference_shell_works_as_the_sidecar_does(sidecar: RunningSidecar) -> None:
    with shell_process(sidecar):
        written, read, ran, missing = batch(
            sidecar,
            ("write_file", {"path": "d/a.txt", "content": "one\n"}),
            ("read_file", {"path": "d/a.txt"}),
            ("run_command", {"command": "wc -l < d/a.txt"}),
            ("read_file", {"path": "none"}),
        )
        assert {each["executor"] for each in (written, read, ran, missing)} == {"shell"}
        assert (sidecar.workspace / "d/a.txt").read_text() == "one\n"
        assert read["content"] == "1 one" and ran["details"]["exitCode"] == 0
        assert missing["status"] == "error" and missing["error"]["code"] == "not_found"


def test_the_reference_shell_comes_back_to_a_sidecar_that_was_restarted(sidecar: RunningSidecar) -> None:
    (sidecar.workspace / "a.txt").write_text("here\n")
    with shell_process(sidecar) as shell:
        for end in (sidecar.kill, sidecar.stop):
            end()
            sidecar.start()
            shell.connected()
            assert batch(sidecar, ("read_file", {"path": "a.txt"}))[0]["executor"] == "shell"
        assert shell.close() == 0


def test_a_stop_of_the_shell_leaves_no_process(sidecar: RunningSidecar) -> None:
    reply = {"calls": [{"tool": "run_command", "args": {"command": "echo begun > begun; exec sleep 4713.25"}}]}
    models = sidecar.script("sleep", [reply, {"text": "done"}])
    with shell_process(sidecar) as shell:
        sidecar.execute("x", models=models, approvals="auto", intent="run_command", agentType="terminal")
        # By its words: inside the sandbox a process has another number than outside.
        wait_until(lambda: _running("sleep", "4713.25"), what="the command")
        assert shell.close() == 0
        assert not _running("sleep", "4713.25")


def _running(*words: str) -> bool:
    line = "".join(f"{word}\0" for word in words).encode()
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if place.read_bytes() == line:
                return True
        except OSError:
            continue
    return False


def test_a_stop_of_the_sidecar_does_not_wait_for_a_silent_shell(tmp_path: Path) -> None:
    reply = {"calls": [{"tool": "run_command", "args": {"command": "sleep 60"}}]}
    with running_sidecar(tmp_path) as sidecar, raw_shell(sidecar) as shell:
        models = sidecar.script("sleep", [reply, {"text": "done"}])
        shell.hello("run_command")
        sidecar.execute("x", models=models, approvals="auto", intent="run_command", agentType="terminal")
        shell.next("tool_call")
        assert sidecar.process is not None
        sidecar.process.terminate()
        assert sidecar.process.wait(SECONDS) == 0


def test_no_shell_ever_connected_means_no_websocket_library_loaded(sidecar: RunningSidecar) -> None:
    maps = Path(f"/proc/{sidecar.pid}/maps")
    if not maps.exists():
        pytest.skip("needs /proc")
    speedups = "websockets/speedups"
    assert speedups not in maps.read_text()
    with raw_shell(sidecar) as shell:
        shell.hello("read_file")
        assert speedups in maps.read_text()
        (said,) = sidecar.get("/api/brain/status").json["shells"]
        assert said == {
            "name": "raw",
            "version": "1",
            "workspace": str(sidecar.workspace),
            "tools": ["read_file"],
            "connected": True,
        }
