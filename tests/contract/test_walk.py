"""The walk of one task in CONTRIBUTING.md names every file and function that a real run passes through."""

import re
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from sidecar.verify.verifier import Verifier
from sidecar.wire.tasks import Status
from tests.support.engine import engine_harness
from tools.builtin.rename_symbol import RenameSymbol

ROOT = Path(__file__).parents[2]
WALK = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## One task")[2].partition("## How to add")[0]
HOPS = re.findall(r"^\d+\. `([\w/]+)\.py` `([\w.]+)`", WALK, re.MULTILINE)


def test_it_has_at_most_twelve_hops_and_each_is_there() -> None:
    assert len(HOPS) == len(re.findall(r"^\d+\. ", WALK, re.MULTILINE)) <= 12
    for file, name in HOPS:
        found = import_module(file.replace("/", "."))
        for part in name.split("."):
            found = getattr(found, part)
        assert callable(found)


async def test_a_real_run_passes_through_them_in_this_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passed: dict[str, list[tuple[str, str]]] = {}

    def watch(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        async def watched(*args: Any) -> Any:
            frames = [(Path(frame.filename), frame.name) for frame in traceback.extract_stack()]
            inside = [(path.relative_to(ROOT), name) for path, name in frames if path.is_relative_to(ROOT)]
            way = [(str(path.with_suffix("")), name) for path, name in inside if path.parts[0] in ("sidecar", "tools")]
            passed[owner.__name__] = [*way, (owner.__module__.replace(".", "/"), name)]
            return await original(*args)

        monkeypatch.setattr(owner, name, watched)

    watch(RenameSymbol, "prepare")
    watch(Verifier, "verify")
    async with engine_harness(tmp_path) as harness:
        (harness.workspace / "greet.py").write_text("def greet() -> int:\n    return 1\n")
        (harness.workspace / "test_greet.py").write_text(
            "from greet import greet\n\n\ndef test_it():\n    assert greet()\n"
        )
        task_id = await harness.execute("rename greet to welcome", approvals="auto")
        assert (await harness.ended(task_id)).status is Status.COMPLETED

    def hops(*numbers: int) -> list[tuple[str, str]]:
        return [(file, name.rpartition(".")[2]) for file, name in (HOPS[number - 1] for number in numbers)]

    for owner, wanted in (("RenameSymbol", hops(*range(4, 12))), ("Verifier", hops(4, 5, 6, 12))):
        way = passed[owner]
        assert [each for each in way if each in wanted] == wanted
        assert [file for file, _ in way if f"`{file}.py`" not in WALK] == []
