"""What a command does to files is found by looking, with what they were before, whatever kind of change it is."""

import asyncio
import gc
import os
import stat
import subprocess
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.wire.events import Event
from tests.support.workbench import Workbench, workbench
from tests.waiting import SECONDS, until_true
from tools.ledger import FileState, IntentRecord, ListLedger, NewBlob, Outcome, digest
from tools.local import scan, walk
from tools.local.attribution import current


@pytest.fixture
async def scanning(tmp_path: Path) -> AsyncIterator[Workbench]:
    """On a machine that can't tell who changes a file."""
    async with workbench(tmp_path, attributes=False) as opened:
        yield opened


def git(workspace: Path, *words: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    done = subprocess.run(["git", *identity, *words], cwd=workspace, check=True, capture_output=True, text=True)
    return done.stdout


def committed(bench: Workbench) -> None:
    git(bench.workspace, "init", "-q", "-b", "main")
    git(bench.workspace, "add", "-A")
    git(bench.workspace, "commit", "-q", "-m", "x", "--allow-empty")
    _age(bench.workspace)
    git(bench.workspace, "update-index", "-q", "--refresh")


def _age(workspace: Path) -> None:
    """As if everything had been written a while ago: what is younger than the index Git itself would compare."""
    for path in workspace.rglob("*"):
        if path.is_file() and not path.is_symlink() and ".git" not in path.parts:
            os.utime(path, (1_600_000_000, 1_600_000_000))


async def command(bench: Workbench, text: str) -> Outcome:
    return await bench.call("run_command", command=text)


def states(outcome: Outcome) -> dict[str, tuple[str | None, str | None]]:
    return {file.path: (file.before, file.after) for file in outcome.files}


def pair(before: bytes | None, after: bytes | None) -> tuple[str | None, str | None]:
    return (None if before is None else digest(before), None if after is None else digest(after))


async def test_created_modified_deleted_and_moved_files_are_found_with_both_contents(bench: Workbench) -> None:
    bench.write("a.txt", "one\n")
    bench.write("gone.txt", b"\xff\x00binary\r\n")
    bench.write("old.txt", "moved\n")
    outcome = await command(bench, "echo two >> a.txt; rm gone.txt; mkdir d; mv old.txt d/new.txt; printf x > made")
    assert states(outcome) == {
        "a.txt": pair(b"one\n", b"one\ntwo\n"),
        "gone.txt": pair(b"\xff\x00binary\r\n", None),
        "old.txt": pair(b"moved\n", None),
        "d/new.txt": pair(None, b"moved\n"),
        "made": pair(None, b"x"),
    }
    contents = {name for file in outcome.files for name in (file.before, file.after) if name}
    assert contents <= bench.ledger.blobs.keys()
    assert isinstance(outcome.details, dict) and isinstance(outcome.details["files"], list)
    assert {"path": "a.txt", "change": "modified", "added": 1, "removed": 0} in outcome.details["files"]


async def test_a_command_that_changes_nothing_says_nothing(bench: Workbench) -> None:
    bench.write("a.txt", "one\n")
    outcome = await command(bench, "touch a.txt; cat a.txt > b; rm b")
    assert outcome.files == [] and outcome.irreversible == []
    assert isinstance(outcome.details, dict) and "files" not in outcome.details


async def test_a_change_in_the_very_moment_after_a_write_is_seen_though_size_and_stamp_stay(bench: Workbench) -> None:
    for number in range(10):
        path = bench.write("a.txt", f"{number}\n")
        found = path.stat()
        reset = f"touch -d @{found.st_mtime_ns // 10**9}.{found.st_mtime_ns % 10**9:09d} a.txt"
        outcome = await command(bench, f"printf 'x\\n' > a.txt; {reset}")
        assert states(outcome) == {"a.txt": pair(f"{number}\n".encode(), b"x\n")}


async def test_a_mode_is_a_change_and_so_is_a_link(bench: Workbench) -> None:
    bench.write("run.sh", "#!/bin/sh\n").chmod(0o644)
    (bench.workspace / "link").symlink_to("run.sh")
    outcome = await command(bench, "chmod 755 run.sh; ln -sfn elsewhere link; ln -s run.sh other")
    found = {file.path: file for file in outcome.files}
    content = digest(b"#!/bin/sh\n")
    assert found["run.sh"] == FileState(path="run.sh", before=content, after=content, mode=0o755, was=0o644)
    link = stat.S_IFLNK | 0o777
    assert found["link"] == FileState(
        path="link", before=digest(b"run.sh"), after=digest(b"elsewhere"), mode=link, was=link
    )
    assert (found["other"].before, found["other"].after, found["other"].mode) == (None, digest(b"run.sh"), link)


async def test_a_name_that_is_no_text_comes_back_as_the_same_file(bench: Workbench) -> None:
    (bench.workspace / os.fsdecode(b"na\xefve")).write_text("one\n")
    outcome = await command(bench, "printf 'two\\n' > $(printf 'na\\357ve')")
    (file,) = outcome.files
    assert bench.backend.host(str(bench.workspace)).root.relative(file.path) == os.fsdecode(b"na\xefve")  # type: ignore[attr-defined]
    assert (file.before, file.after) == pair(b"one\n", b"two\n")
    file.path.encode()


async def test_a_command_that_failed_was_ended_or_cancelled_has_changed_what_it_changed(bench: Workbench) -> None:
    failed = await command(bench, "echo 1 > a; exit 3")
    assert failed.status == "error" and states(failed) == {"a": pair(None, b"1\n")}
    late = await bench.call("run_command", command="echo 2 > b; sleep 100", timeoutMs=300)
    assert late.status == "error" and states(late) == {"b": pair(None, b"2\n")}
    running = asyncio.create_task(bench.call("run_command", "cut", command="echo 3 > c; sleep 100"))
    await until_true((bench.workspace / "c").exists)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert states(bench.ledger.outcomes["cut"]).keys() == {"c"}


async def test_the_content_of_clean_tracked_files_comes_from_git_and_nothing_of_git_is_touched(
    scanning: Workbench,
) -> None:
    bench = scanning
    for number in range(20):
        bench.write(f"src/{number}.txt", f"{number}\n" * 50)
    bench.write("dirty.txt", "as committed\n")
    committed(bench)
    bench.write("dirty.txt", "edited since\n")
    bench.write("untracked.txt", "mine\n")
    index = (bench.workspace / ".git/index").read_bytes()
    scanner = bench.backend.host(str(bench.workspace))._scanner  # type: ignore[attr-defined]
    async with asyncio.timeout(SECONDS):
        await command(bench, "true")
        while scanner._sources["src/1.txt"].git is None:  # it was touched just now
            await command(bench, "true")
    assert scanner._sources["dirty.txt"].git is None
    outcome = await command(
        bench, "echo more >> src/1.txt; rm -r src/2.txt; echo x > dirty.txt; echo x > untracked.txt"
    )
    assert states(outcome) == {
        "src/1.txt": pair(b"1\n" * 50, b"1\n" * 50 + b"more\n"),
        "src/2.txt": pair(b"2\n" * 50, None),
        "dirty.txt": pair(b"edited since\n", b"x\n"),
        "untracked.txt": pair(b"mine\n", b"x\n"),
    }
    assert (bench.workspace / ".git/index").read_bytes() == index
    assert git(bench.workspace, "log", "--oneline").count("\n") == 1


async def test_where_git_keeps_another_form_the_file_itself_is_read(bench: Workbench) -> None:
    bench.write(".gitattributes", "*.txt text eol=crlf\n")
    bench.write("a.txt", "one\r\ntwo\r\n")
    committed(bench)
    outcome = await command(bench, "rm a.txt")
    assert states(outcome) == {"a.txt": pair(b"one\r\ntwo\r\n", None)}
    assert digest(b"one\r\ntwo\r\n") in bench.ledger.blobs


async def test_a_checkout_of_another_branch_is_a_change_of_many_files(bench: Workbench) -> None:
    bench.write("a.txt", "main\n" * 9)
    committed(bench)
    git(bench.workspace, "checkout", "-q", "-b", "other")
    bench.write("a.txt", "other\n" * 9)
    bench.write("b.txt", "b\n")
    git(bench.workspace, "add", "-A")
    git(bench.workspace, "commit", "-q", "-m", "y")
    outcome = await command(bench, "git checkout -q main")
    assert states(outcome) == {"a.txt": pair(b"other\n" * 9, b"main\n" * 9), "b.txt": pair(b"b\n", None)}


async def test_ignored_and_installed_files_are_not_kept_and_that_is_said(bench: Workbench) -> None:
    bench.write(".gitignore", "dist/\n*.log\n")
    bench.write("app.log", "old\n")
    outcome = await command(
        bench, "mkdir -p dist node_modules/x __pycache__; touch dist/a node_modules/x/y __pycache__/z; echo > app.log"
    )
    assert outcome.files == []
    assert {(each.path, each.change) for each in outcome.irreversible} == {
        ("dist/", "modified"),
        ("node_modules/", "modified"),
        ("app.log", "modified"),
    }
    assert isinstance(outcome.details, dict) and "can't be undone" in str(outcome.details["notKept"])


async def test_a_file_that_is_too_large_is_not_kept_and_that_is_said(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(current, "MAX_FILE_BYTES", 100)
    bench.write("large", b"x" * 200)
    bench.write("small", b"x")
    outcome = await command(bench, "echo >> large; head -c 300 /dev/zero > new; echo y > small")
    assert states(outcome).keys() == {"small"}
    assert [(each.path, each.change) for each in outcome.irreversible] == [("large", "modified"), ("new", "created")]


async def test_a_workspace_with_too_many_files_is_not_looked_at_and_that_is_said(
    scanning: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = scanning
    monkeypatch.setattr(scan, "MAX_FILES", 5)
    monkeypatch.setattr(scan, "_QUICK_FILES", 5)
    for number in range(7):
        bench.write(f"{number}", "x")
    outcome = await command(bench, "echo y > 1")
    assert outcome.files == []
    assert isinstance(outcome.details, dict) and "more than 5 files" in str(outcome.details["notKept"])


async def test_what_another_call_writes_meanwhile_is_not_taken_for_the_commands(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.write("a.txt", "one\n")
        running = asyncio.create_task(
            bench.call("run_command", command="touch up; while [ ! -e go ]; do sleep 0.01; done; echo own > own.txt")
        )
        await until_true((bench.workspace / "up").exists)
        await bench.call("write_file", path="a.txt", content="by another\n")
        await bench.call("write_file", path="new.txt", content="by another\n")
        bench.write("go", "")
        assert states(await running).keys() == {"up", "own.txt"}


async def test_a_command_in_the_background_is_accounted_for_when_it_has_ended(bench: Workbench) -> None:
    started = await bench.call("run_command", "bg", command="echo 1 > a; exec sleep 1000", background=True)
    assert started.files == []
    await until_true((bench.workspace / "a").exists)
    await bench.call("write_file", path="tool.txt", content="x")
    await bench.call("run_command", command="echo 2 > b")
    assert (await bench.call("command_output", commandId="bg")).files == []
    stopped = await bench.call("stop_command", commandId="bg")
    assert states(stopped).keys() == {"a"}


async def test_a_command_in_the_background_that_ends_with_its_task_is_accounted_for(bench: Workbench) -> None:
    await bench.call("run_command", "bg", command="echo 1 > a; exec sleep 1000", background=True)
    await until_true((bench.workspace / "a").exists)
    await bench.executor.end(bench.ledger)
    assert states(bench.ledger.outcomes["bg:ended"]).keys() == {"a"}


async def test_what_a_command_did_before_the_process_died_is_found_afterwards(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.write("a.txt", "one\n")
        bench.write("b.txt", "b\n")
        bench.ledger.answer = "deny"
        bench.context = replace(bench.context, ledger=_DyingLedger(bench.ledger.intents, bench.ledger.blobs))
        with pytest.raises(ConnectionError):
            await bench.call("run_command", "c1", command="echo two > a.txt; rm b.txt")
    async with workbench(tmp_path) as second:
        second.ledger.intents, second.ledger.blobs = bench.ledger.intents, bench.ledger.blobs
        outcome = await second.call("run_command", "c1", command="echo two > a.txt; rm b.txt")
        assert outcome.status == "unknown"
        assert states(outcome) == {"a.txt": pair(b"one\n", b"two\n"), "b.txt": pair(b"b\n", None)}
        assert "a.txt, b.txt" in outcome.content


class _DyingLedger(ListLedger):
    """Of a process that dies before the outcome is durable."""

    def __init__(self, intents: dict[str, IntentRecord], blobs: dict[str, bytes]) -> None:
        super().__init__(intents=intents, blobs=blobs)

    async def settle(self, call_id: str, outcome: Outcome, event: Event, blobs: Sequence[NewBlob] = ()) -> None:
        raise ConnectionError


async def test_what_may_hold_a_secret_is_not_written_down_before_anything_has_changed_it(scanning: Workbench) -> None:
    bench = scanning
    bench.write(".env", "KEY=canary\n")
    bench.write("a.txt", "a\n")
    await command(bench, "true")
    assert digest(b"a\n") in bench.ledger.blobs
    assert not any(b"canary" in content for content in bench.ledger.blobs.values())


async def test_a_window_that_everybody_has_let_go_of_is_closed(bench: Workbench) -> None:
    await bench.call("run_command", "bg", command="exec sleep 1000", background=True)
    tracker = bench.executor.tracker
    assert tracker.open_windows == 1
    await bench.executor.end(bench.ledger)
    gc.collect()
    assert tracker.open_windows == 0


async def test_the_sidecars_own_directory_in_a_workspace_is_not_looked_at(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.context = type(bench.context)(str(tmp_path), "auto", bench.ledger)
        outcome = await bench.call("run_command", command="echo x > workspace/a; echo x > data/planted || true")
        assert states(outcome).keys() == {"workspace/a"}


def test_caps_are_what_they_say() -> None:
    assert walk.MAX_FILES == scan.MAX_FILES == 50_000


async def test_a_file_that_becomes_a_pipe_or_a_directory_is_gone(bench: Workbench) -> None:
    for name in ("a", "b", "d/c"):
        bench.write(name, "x")
    outcome = await command(bench, "rm a b; mkfifo a; mkdir b; rm -r d")
    assert states(outcome) == dict.fromkeys(("a", "b", "d/c"), pair(b"x", None))


async def test_a_rule_that_comes_later_holds_from_then_on(bench: Workbench) -> None:
    bench.write("a.log", "x")
    assert states(await command(bench, "echo y > a.log")).keys() == {"a.log"}
    bench.write(".gitignore", "*.log\n")
    outcome = await command(bench, "echo z > a.log; echo new > b.log; echo c > c.txt")
    assert states(outcome).keys() == {"c.txt"}
    assert {(each.path, each.change) for each in outcome.irreversible} == {("a.log", "modified"), ("b.log", "created")}


async def test_many_files_are_reported_with_their_lines_though_only_the_first_are_compared(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.executor.command_changes._COMPARED_IN_ALL", 60)
    for number in range(20):
        bench.write(f"{number:02}.txt", "one\ntwo\n")
    outcome = await command(bench, "sed -i 's/two/three/' *.txt")
    assert isinstance(outcome.details, dict)
    assert outcome.details["files"] == [
        {"path": f"{number:02}.txt", "change": "modified", "added": 1, "removed": 1} for number in range(20)
    ]
