"""The shells as a backend, over a real WebSocket, with a shell written by hand on the other end."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.loopback import Loopback, loopback, start_call
from tests.waiting import SECONDS, until_true
from tools.errors import HostGone, NeverSent, ToolError


@pytest.fixture
async def bridge() -> AsyncIterator[Loopback]:
    async with loopback() as made:
        yield made


async def test_a_call_goes_to_the_shell_that_offers_it(bridge: Loopback, tmp_path: Path) -> None:
    assert not bridge.backend.offers("read_file", str(tmp_path))
    async with bridge.raw_shell(tmp_path, "read_file") as shell:
        welcome = await shell.hello()
        assert welcome["open"] == [] and welcome["heartbeatSeconds"] == 15.0 and welcome["session"]
        assert bridge.backend.offers("read_file", str(tmp_path))
        assert not bridge.backend.offers("write_file", str(tmp_path))
        assert not bridge.backend.offers("read_file", str(tmp_path / "other"))
        asked = start_call(bridge, "read_file", "c1", tmp_path, path="a.py")
        frame = await shell.next("tool_call")
        assert frame == {
            "type": "tool_call",
            "id": "c1",
            "tool": "read_file",
            "args": {"path": "a.py"},
            "timeoutMs": 30_000,
            "workspace": str(tmp_path),
        }
        await shell.send(type="tool_result", id="c1", result={"content": "text", "details": {"path": "a.py"}})
        result = await asked
        assert (result.content, result.details) == ("text", {"path": "a.py"})


async def test_a_workspace_is_the_same_by_whatever_path(bridge: Loopback, tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    async with bridge.raw_shell(link, "read_file") as shell:
        await shell.hello()
        assert bridge.backend.offers("read_file", str(real)) and bridge.backend.offers("read_file", str(link))


async def test_output_and_errors_come_through(bridge: Loopback, tmp_path: Path) -> None:
    async with bridge.raw_shell(tmp_path, "run_command") as shell:
        await shell.hello()
        heard: list[object] = []
        asked = start_call(bridge, "run_command", "c1", tmp_path, reports=heard, command=["make"])
        await shell.next("tool_call")
        await shell.send(type="stream", id="c1", stream="stdout", text="building")
        await shell.send(
            type="error",
            id="c1",
            error={"code": "no_such_program", "message": "make is not there", "advice": "Do without."},
        )
        with pytest.raises(ToolError, match="make is not there") as raised:
            await asked
        assert raised.value.advice == "Do without."
        assert raised.value.code == "no_such_program"
        assert heard == [("stdout", "building")]


async def test_a_cancel_reaches_the_shell_and_waits_for_its_word(bridge: Loopback, tmp_path: Path) -> None:
    async with bridge.raw_shell(tmp_path, "run_command") as shell:
        await shell.hello()
        heard: list[object] = []
        asked = start_call(bridge, "run_command", "c1", tmp_path, reports=heard, command=["sleep", "60"])
        await shell.next("tool_call")
        asked.cancel()
        assert await shell.next("cancel") == {"type": "cancel", "id": "c1"}
        assert not asked.done()
        killed = [{"pid": 7, "command": "sleep 60"}]
        await shell.send(type="error", id="c1", error={"code": "cancelled", "message": "x"}, killed=killed)
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert heard == [(7, "sleep 60")]


async def test_a_time_out_is_the_sidecars_too(
    bridge: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.session.sidecar.MARGIN_SECONDS", 0.05)
    bridge.dispatcher.limit_ending(0.05)
    async with bridge.raw_shell(tmp_path, "read_file") as shell:
        await shell.hello()
        asked = start_call(bridge, "read_file", "c1", tmp_path, seconds=0.05, path="a")
        await shell.next("tool_call")
        await shell.next("cancel")
        # Nobody said how it ended, so it may have taken effect.
        with pytest.raises(HostGone, match="took longer"):
            await asyncio.wait_for(asked, SECONDS)


async def test_after_a_reconnect_the_call_comes_again_and_its_first_answer_counts(
    bridge: Loopback, tmp_path: Path
) -> None:
    async with bridge.raw_shell(tmp_path, "write_file") as shell:
        session = (await shell.hello())["session"]
        asked = start_call(bridge, "write_file", "c1", tmp_path, path="a", content="x")
        await shell.next("tool_call")
    async with bridge.raw_shell(tmp_path, "write_file") as shell:
        welcome = await shell.hello(session=session)
        assert welcome["session"] == session and [each["id"] for each in welcome["open"]] == ["c1"]
        assert (await shell.next("tool_call"))["id"] == "c1"
        await shell.result("c1", "once")
        await shell.result("c1", "twice")
        assert (await asked).content == "once"


async def test_a_new_connection_of_a_session_takes_the_place_of_the_old_one(bridge: Loopback, tmp_path: Path) -> None:
    async with bridge.raw_shell(tmp_path, "write_file") as old, bridge.raw_shell(tmp_path, "write_file") as new:
        session = (await old.hello())["session"]
        asked = start_call(bridge, "write_file", "c1", tmp_path, path="a", content="x")
        await old.next("tool_call")
        await new.hello(session=session)
        await asyncio.wait_for(old.socket.wait_closed(), SECONDS)
        await new.next("tool_call")
        await new.result("c1", "from the new one")
        assert (await asked).content == "from the new one"


async def test_a_shell_that_does_not_return_leaves_an_error(tmp_path: Path) -> None:
    async with loopback(reconnect_seconds=0.05) as bridge:
        async with bridge.raw_shell(tmp_path, "run_command") as shell:
            await shell.hello()
            asked = start_call(bridge, "run_command", "c1", tmp_path, command=["make"])
            await shell.next("tool_call")
        with pytest.raises(HostGone):
            await asyncio.wait_for(asked, SECONDS)
        assert len(bridge.dispatcher.sessions) == 0
        with pytest.raises(ToolError) as never_sent:
            await start_call(bridge, "run_command", "c2", tmp_path, command=["make"])
        assert never_sent.value.code == "host_gone" and isinstance(never_sent.value, NeverSent)


async def test_two_shells_answer_for_their_own_calls_only(bridge: Loopback, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    async with bridge.raw_shell(one, "read_file") as first, bridge.raw_shell(two, "read_file") as second:
        await first.hello()
        await second.hello()
        asked = start_call(bridge, "read_file", "c1", one, path="a")
        await first.next("tool_call")
        await second.result("c1", "forged")
        assert (await second.next("error"))["error"]["code"] == "unknown_call"
        await first.result("c1", "genuine")
        assert (await asked).content == "genuine"


async def test_a_read_that_is_made_again_is_a_call_of_its_own(bridge: Loopback, tmp_path: Path) -> None:
    async with bridge.raw_shell(tmp_path, "read_file") as shell:
        await shell.hello(remembers=["from-before"])
        ids = []
        for call_id in ("c1", "c1", "c1", "from-before"):
            asked = start_call(bridge, "read_file", call_id, tmp_path, path="a")
            ids.append((await shell.next("tool_call"))["id"])
            await shell.result(ids[-1], "x")
            await asked
        assert len(set(ids)) == 4 and ids[0] == "c1"


async def test_an_effect_keeps_its_id_unless_it_is_another_one(bridge: Loopback, tmp_path: Path) -> None:
    async with bridge.raw_shell(tmp_path, "write_file") as shell:
        await shell.hello(remembers=["from-before"])
        assert bridge.backend.remembers("from-before") and not bridge.backend.remembers("unknown")
        ids = []
        for call_id, content in (("from-before", "x"), ("c1", "x"), ("c1", "x"), ("c1", "y")):
            asked = start_call(bridge, "write_file", call_id, tmp_path, path="a", content=content)
            ids.append((await shell.next("tool_call"))["id"])
            await shell.result(ids[-1], "x")
            await asked
        assert ids[:3] == ["from-before", "c1", "c1"] and ids[3] not in ids[:3]


async def test_frames_before_hello_are_answered_and_the_connection_lives(bridge: Loopback, tmp_path: Path) -> None:
    async with bridge.raw_shell(tmp_path, "read_file") as shell:
        await shell.socket.send("nonsense")
        assert (await shell.next("error"))["error"]["code"] == "malformed_json"
        await shell.socket.send(b"\x00\x01")
        await shell.next("error")
        await shell.result("c1", "x")
        assert (await shell.next("error"))["error"]["code"] == "hello_first"
        await shell.hello()


async def test_a_frame_above_the_limit_is_answered_and_a_giant_one_ends_only_its_connection(
    bridge: Loopback, tmp_path: Path
) -> None:
    async with bridge.raw_shell(tmp_path, "read_file") as shell:
        await shell.hello()
        await shell.socket.send("x" * (16 * 1024 * 1024 + 1))
        assert (await shell.next("error"))["error"]["code"] == "frame_too_large"
        asked = start_call(bridge, "read_file", "c1", tmp_path, path="a")
        await shell.next("tool_call")
        await shell.result("c1", "x" * (15 * 1024 * 1024))
        assert len((await asked).content) == 15 * 1024 * 1024
        with pytest.raises(Exception, match="1009"):
            await shell.socket.send("x" * (33 * 1024 * 1024))
            await shell.next()
    async with bridge.raw_shell(tmp_path, "read_file") as shell:
        await shell.hello()


async def test_a_shell_that_does_not_read_is_dropped_and_its_calls_wait_for_it(
    bridge: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.server._MAX_BYTES", 4_000_000)
    async with bridge.raw_shell(tmp_path, "write_file", max_queue=1) as shell:
        session = (await shell.hello())["session"]
        shell.socket.transport.pause_reading()
        asked = [
            start_call(bridge, "write_file", f"c{number}", tmp_path, path="a", content="x" * 1_000_000)
            for number in range(20)
        ]
        await until_true(lambda: not bridge.backend.offers("write_file", str(tmp_path)))
        assert not any(task.done() for task in asked)
        shell.socket.transport.abort()
    monkeypatch.undo()
    async with bridge.raw_shell(tmp_path, "write_file", max_size=None) as shell:
        welcome = await shell.hello(session=session)
        assert len(welcome["open"]) == 2  # no more than fit into a frame
        for _ in asked:
            await shell.result((await shell.next("tool_call"))["id"], "done")
        assert [(await task).content for task in asked] == ["done"] * 20


async def test_a_silent_peer_is_let_go(tmp_path: Path) -> None:
    async with loopback(heartbeat_seconds=0.05) as bridge, bridge.raw_shell(tmp_path, "read_file") as shell:
        await shell.hello()
        shell.socket.transport.pause_reading()
        await until_true(lambda: not bridge.backend.offers("read_file", str(tmp_path)))
        shell.socket.transport.abort()


async def test_what_the_editor_says_reaches_caches_and_diagnostics(bridge: Loopback, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = y\n")
    async with bridge.raw_shell(tmp_path) as shell:
        await shell.hello()
        found = [{"line": 1, "column": 5, "severity": "error", "message": "y is not defined", "source": "ls"}]
        await shell.send(type="notify", event="file_changed", path="a.py")
        await shell.send(type="notify", event="file_changed", path="/etc/passwd")
        await shell.send(type="notify", event="diagnostics", path=str(tmp_path / "a.py"), diagnostics=found)
        await shell.send(type="nothing")
        await shell.next("error")  # so everything before it was heard
        assert bridge.changed == [str(tmp_path / "a.py")]
        assert bridge.backend.offers("get_diagnostics", str(tmp_path))
        result = await start_call(bridge, "get_diagnostics", "c1", tmp_path, paths=["a.py", "b.py"])
        assert "a.py:1:5 error: y is not defined" in result.content
        assert "nothing about b.py" in result.content
        (tmp_path / "a.py").write_text("x = 1  # mended\n")
        assert not bridge.backend.offers("get_diagnostics", str(tmp_path))


async def test_an_editor_gets_only_the_reads_of_unsaved_files_once_it_reports_them(
    bridge: Loopback, tmp_path: Path
) -> None:
    place = str(tmp_path)
    async with bridge.raw_shell(tmp_path, "read_file") as shell:
        await shell.hello()
        assert bridge.backend.covers("read_file", place, ("saved.py",))
        await shell.send(type="notify", event="unsaved", paths=["a.py", ".env", "/etc/passwd", "../b.py"])
        await shell.send(type="nothing")
        await shell.next("error")  # so everything before it was heard
        assert bridge.backend.covers("read_file", place, ("a.py",))
        assert bridge.backend.covers("read_file", place, (f"{place}/a.py",))
        assert bridge.backend.covers("open_in_editor", place, ("saved.py",))
        for path in ("saved.py", ".env", "/etc/passwd", "../b.py"):
            assert not bridge.backend.covers("read_file", place, (path,))
    async with bridge.raw_shell(tmp_path, "read_file") as another:
        await another.hello()
        assert bridge.backend.covers("read_file", place, ("saved.py",))


async def test_an_editor_saves_a_file_before_an_agent_changes_it(bridge: Loopback, tmp_path: Path) -> None:
    place = str(tmp_path)
    async with bridge.raw_shell(tmp_path, "save_file") as shell:
        await shell.hello()
        await shell.send(type="notify", event="unsaved", paths=["a.py", "b.py"])
        await shell.send(type="nothing")
        await shell.next("error")
        await bridge.backend.save(place, ("saved.py",))
        saving = asyncio.create_task(bridge.backend.save(place, ("a.py", "saved.py")))
        call = await shell.next("tool_call")
        assert (call["tool"], call["args"]) == ("save_file", {"path": "a.py"})
        assert not saving.done()
        await shell.result(call["id"], "saved")
        await saving
        refused = asyncio.create_task(bridge.backend.save(place, ("b.py",)))
        call = await shell.next("tool_call")
        await shell.send(type="error", id=call["id"], error={"code": "tool_failed", "message": "read-only"})
        with pytest.raises(ToolError, match=r"b\.py has unsaved changes in raw, which could not save them: read-only"):
            await refused


async def test_arguments_that_are_no_text_are_refused(bridge: Loopback, tmp_path: Path) -> None:
    async with bridge.raw_shell(tmp_path, "read_file") as shell:
        await shell.hello()
        with pytest.raises(ToolError):
            await start_call(bridge, "read_file", "c1", tmp_path, path=json.loads('"\\ud800"'))
