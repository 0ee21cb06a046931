"""Hooks of your own: they see each call before it runs, and may veto it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.executor.context import BatchContext, ToolCall
from tools.executor.executor import Executor
from tools.executor.hooks import Hooks
from tools.executor.registry import default_registry
from tools.ledger import ListLedger, Outcome
from tools.local.backend import LocalBackend
from tools.policy.policy import Policy


class Bench:
    def __init__(self, place: Path) -> None:
        self.place, self.workspace = place, place / "workspace"
        self.workspace.mkdir()
        (self.workspace / "a.txt").write_text("here\n")
        registry = default_registry()
        backend = LocalBackend(registry, place / "data")
        self.executor = Executor(registry, [backend], Policy(), hooks=Hooks(place / "hooks.json"))
        self._count = 0

    def hook(self, moment: str, code: str, **more: Any) -> None:
        script = self.place / f"{moment}.py"
        script.write_text(f"import json, sys\ncall = json.load(sys.stdin)\n{code}\n")
        entry = {"command": [sys.executable, str(script)], **more}
        (self.place / "hooks.json").write_text(json.dumps({moment: [entry]}))

    async def call(self, tool: str, **args: Any) -> Outcome:
        self._count += 1
        context = BatchContext(workspace=str(self.workspace), approvals="ask", ledger=ListLedger(answer="allow"))
        return (await self.executor.batch([ToolCall(f"c{self._count}", tool, args)], context))[0]


@pytest.fixture
async def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_without_a_file_nothing_changes(bench: Bench) -> None:
    assert (await bench.call("read_file", path="a.txt")).status == "success"


async def test_a_hook_that_fails_vetoes_the_call_and_the_model_reads_why(bench: Bench) -> None:
    bench.hook("before_tool", "if call['args'].get('path') == 'a.txt': sys.exit('not this file')")
    vetoed = await bench.call("write_file", path="a.txt", content="new\n")
    assert vetoed.error is not None
    assert vetoed.error.code == "denied"
    assert "not this file" in vetoed.content
    assert (bench.workspace / "a.txt").read_text() == "here\n"
    assert (await bench.call("write_file", path="b.txt", content="new\n")).status == "success"


async def test_a_hook_for_some_tools_leaves_others_alone(bench: Bench) -> None:
    bench.hook("before_tool", "sys.exit(1)", tools=["run_command"])
    assert (await bench.call("read_file", path="a.txt")).status == "success"


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"before_tool": [{}]}', '{"before_tool": [{"command": ["/no/such/program"]}]}', '{"at_noon": []}'],
)
async def test_a_hook_that_can_not_run_lets_nothing_through(bench: Bench, text: str) -> None:
    (bench.place / "hooks.json").write_text(text)
    assert (await bench.call("write_file", path="b.txt", content="x")).error is not None
    assert not (bench.workspace / "b.txt").exists()


async def test_a_hook_that_hangs_is_a_veto_within_its_limit(bench: Bench) -> None:
    bench.hook("before_tool", "import signal; signal.pause()", timeout=0.3)
    vetoed = await bench.call("read_file", path="a.txt")
    assert "took longer than 0.3 s" in vetoed.content


async def test_after_an_edit_the_hook_hears_the_path(bench: Bench, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    bench.hook("after_edit", f"open({str(heard)!r}, 'w').write(call['paths'][0])")
    assert (await bench.call("write_file", path="b.txt", content="x")).status == "success"
    assert heard.read_text() == "b.txt"


async def test_a_workspace_brings_no_hooks(bench: Bench) -> None:
    for name in ("hooks.json", ".brain/hooks.json"):
        (bench.workspace / name).parent.mkdir(exist_ok=True)
        (bench.workspace / name).write_text('{"before_tool": [{"command": ["false"]}]}')
    assert (await bench.call("read_file", path="a.txt")).status == "success"
