"""Where a call is carried out, and what happens when that place fails."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.wire.base import JsonObject
from tests.support.workbench import Workbench, workbench
from tests.waiting import SECONDS
from tools.backend import Backend
from tools.errors import HostGone, NeverSent, ToolError
from tools.executor.context import BatchContext, ToolCall
from tools.executor.executor import Executor
from tools.ledger import IntentRecord, ListLedger
from tools.policy.policy import Policy
from tools.spec import AnyTool, Call, Output, ToolResult


class Shell:
    """A desktop shell that answers as it is told to."""

    name = "shell"

    def __init__(self, tools: set[str], answer: Callable[[int], ToolResult] | None = None) -> None:
        self.tools = tools
        self.calls: list[str] = []
        self.log: set[str] = set()
        self._answer = answer or (lambda _: ToolResult("from the shell"))

    def offers(self, tool: str, workspace: str) -> bool:
        return tool in self.tools

    def remembers(self, call_id: str) -> bool:
        return call_id in self.log

    async def run(self, tool: AnyTool, args: JsonObject, call: Call, output: Output) -> ToolResult:
        self.calls.append(call.id)
        return self._answer(len(self.calls))


def _executor(bench: Workbench, shell: Backend) -> Executor:
    return Executor(bench.registry, [shell, bench.backend], Policy())


async def _call(executor: Executor, bench: Workbench, tool: str, args: JsonObject, call_id: str = "c"):  # type: ignore[no-untyped-def]
    return (await executor.batch([ToolCall(call_id, tool, args)], bench.context))[0]


async def test_a_shell_that_offers_a_tool_carries_it_out(bench: Workbench) -> None:
    executor = _executor(bench, Shell({"read_file", "write_file"}))
    bench.write("a.txt", "here\n")

    there = await _call(executor, bench, "read_file", {"path": "a.txt"}, "1")
    here = await _call(executor, bench, "list_dir", {}, "2")
    written = await _call(executor, bench, "write_file", {"path": "b", "content": ""}, "3")

    assert (there.content, there.executor) == ("from the shell", "shell")
    assert (here.content, here.executor) == ("a.txt", "local")
    assert written.executor == "shell" and not (bench.workspace / "b").exists()


async def test_a_read_is_tried_again_when_the_shell_went_away_for_a_moment(bench: Workbench) -> None:
    def answer(attempt: int) -> ToolResult:
        if attempt < 3:
            raise HostGone("The shell is away.")
        return ToolResult("back")

    shell = Shell({"read_file"}, answer)
    outcome = await _call(_executor(bench, shell), bench, "read_file", {"path": "a"})

    assert outcome.content == "back" and len(shell.calls) == 3


async def test_a_read_whose_shell_is_gone_runs_locally_and_a_write_is_never_repeated(bench: Workbench) -> None:
    def answer(attempt: int) -> ToolResult:
        raise HostGone("The shell is away.")

    shell = Shell({"read_file", "write_file"}, answer)
    executor = _executor(bench, shell)
    bench.write("a", "on disk\n")
    read = await _call(executor, bench, "read_file", {"path": "a"}, "r")
    assert (read.status, read.executor) == ("success", "local") and "on disk" in read.content
    assert shell.calls == ["r"] * 3
    await _call(executor, bench, "write_file", {"path": "a", "content": ""}, "w")
    assert shell.calls.count("w") == 1


async def test_a_write_that_never_reached_its_shell_is_an_error_and_changes_nothing(bench: Workbench) -> None:
    """Its record is that of a call in the shell, so no undo would know of a change made here."""

    def answer(attempt: int) -> ToolResult:
        raise NeverSent("The shell has just left.", transient=False)

    outcome = await _call(
        _executor(bench, Shell({"write_file"}, answer)), bench, "write_file", {"path": "a", "content": ""}
    )

    assert outcome.error is not None and outcome.error.code == "host_gone"
    assert not (bench.workspace / "a").exists()


async def test_a_write_that_a_shell_remembers_is_asked_for_again(bench: Workbench) -> None:
    shell = Shell({"write_file"})
    shell.log.add("w")
    bench.ledger.intents["w"] = IntentRecord(tool="write_file", args={}, backend="shell")

    outcome = await _call(_executor(bench, shell), bench, "write_file", {"path": "a", "content": ""}, "w")

    assert outcome.content == "from the shell" and shell.calls == ["w"]


async def test_a_write_that_a_shell_has_forgotten_is_unknown(bench: Workbench) -> None:
    shell = Shell({"write_file"})
    bench.ledger.intents["w"] = IntentRecord(tool="write_file", args={}, backend="shell")

    outcome = await _call(_executor(bench, shell), bench, "write_file", {"path": "a", "content": ""}, "w")

    assert outcome.status == "unknown" and shell.calls == []


async def test_a_tool_that_breaks_is_an_error_result(bench: Workbench) -> None:
    def answer(attempt: int) -> ToolResult:
        raise ZeroDivisionError("a bug")

    outcome = await _call(_executor(bench, Shell({"list_dir"}, answer)), bench, "list_dir", {})

    assert outcome.error is not None and outcome.error.code == "internal_error"


async def test_a_site_that_hangs_is_cut_off(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.executor.invocation._MARGIN", 0.02)

    class Hanging(Shell):
        async def run(self, tool: AnyTool, args: JsonObject, call: Call, output: Output) -> ToolResult:
            await asyncio.Event().wait()
            raise AssertionError

    executor = _executor(bench, Hanging({"run_command"}))
    outcome = await _call(executor, bench, "run_command", {"command": "x", "timeoutMs": 1})

    assert outcome.error is not None and outcome.error.code == "timed_out"


async def test_a_cancel_ends_every_call_of_a_batch(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        reached = asyncio.Semaphore(0)
        ended: list[str] = []

        class Waiting(Shell):
            async def run(self, tool: AnyTool, args: JsonObject, call: Call, output: Output) -> ToolResult:
                reached.release()
                try:
                    await asyncio.Event().wait()
                finally:
                    ended.append(call.id)
                raise AssertionError

        executor = _executor(bench, Waiting({"read_file"}))
        calls = [ToolCall(f"c{n}", "read_file", {"path": f"{n}"}) for n in range(12)]
        batch = asyncio.create_task(executor.batch(calls, bench.context))
        for _ in range(10):
            await asyncio.wait_for(reached.acquire(), SECONDS)
        batch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(batch, SECONDS)

        assert sorted(ended) == sorted(f"c{n}" for n in range(10))
        assert bench.ledger.outcomes == {}


async def test_of_a_patch_that_fails_half_way_nothing_is_left(bench: Workbench) -> None:
    bench.write("a.txt", "a\n")
    bench.write("b.txt", "b\n")

    class Meddling(ListLedger):
        async def intend(self, call_id, intent, event, blobs=()):  # type: ignore[no-untyped-def]
            await super().intend(call_id, intent, event, blobs)
            bench.write("b.txt", "theirs\n")

    patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+A\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+B\n"
    context = BatchContext(str(bench.workspace), "auto", Meddling())
    (outcome,) = await bench.executor.batch([ToolCall("p", "apply_patch", {"patch": patch})], context)

    assert outcome.error is not None and outcome.error.code == "changed_elsewhere"
    assert (bench.read("a.txt"), bench.read("b.txt")) == (b"a\n", b"theirs\n")


async def test_an_error_of_a_site_keeps_its_code(bench: Workbench) -> None:
    def answer(attempt: int) -> ToolResult:
        raise ToolError("No such buffer.", code="no_buffer")

    outcome = await _call(_executor(bench, Shell({"list_dir"}, answer)), bench, "list_dir", {})

    assert outcome.error is not None and outcome.error.code == "no_buffer"
