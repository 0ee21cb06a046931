"""Research: an answer with sources that exist, in at most five rounds."""

import json
from pathlib import Path

import pytest

from sidecar.wire.tasks import Status
from sidecar.work.research import MAX_ROUNDS, parse_findings
from tests.support.engine import engine_harness
from tests.support.models import recorded_requests

SOURCES = [
    {"path": "shop/tax.py", "lines": "1-2", "why": "the rate"},
    {"path": "./shop/tax.py", "lines": [4, 5], "why": "its use"},
    {"path": "shop/tax.py", "lines": "90-99", "why": "invented"},
    {"path": "shop/tax.py", "lines": "3", "why": "empty"},
    {"path": "../outside.py", "lines": "1", "why": "outside"},
    {"path": ".env", "lines": "1", "why": "a secret"},
    {"path": "missing.py", "lines": "1", "why": "invented"},
    {"path": "shop/tax.py", "why": "no lines"},
]
ANSWER = {"answer": "The rate is 19 %.", "sources": SOURCES}


def write_files(workspace: Path) -> None:
    (workspace / "shop").mkdir(parents=True, exist_ok=True)
    (workspace / "shop/tax.py").write_text("RATE = 0.19\nLOW = 0.07\n\ndef tax(x):\n    return x * RATE\n")
    (workspace / ".env").write_text("TOKEN=hidden\n")
    (workspace.parent / "outside.py").write_text("x = 1\n")


async def test_wrong_citations_are_removed_and_named(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        write_files(harness.workspace)
        models = harness.script("play", [{"text": f"Here it is:\n```json\n{json.dumps(ANSWER)}\n```"}])
        done = await harness.ended(await harness.execute("/research what is the tax rate?", models=models))
    assert (done.status, done.intent, done.pipeline) == (Status.COMPLETED, "research", ["researcher"])
    assert done.result is not None
    assert done.result.answer == "The rate is 19 %."
    assert done.result.sources is not None
    assert [(each.path, each.lines) for each in done.result.sources] == [("shop/tax.py", "1-2"), ("shop/tax.py", "4-5")]
    assert "6 citations were wrong and were removed" in done.result.summary
    for wrong in ("90-99: the file has 5 lines", "missing.py:1", "outside.py:1", ".env:1", "tax.py:3: these lines"):
        assert wrong in done.result.summary
    assert "hidden" not in done.result.summary


async def test_an_answer_without_json_is_asked_for_once_more(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        write_files(harness.workspace)
        script = [{"text": "It is 19 %."}, {"text": json.dumps({**ANSWER, "sources": SOURCES[:1]})}]
        done = await harness.ended(await harness.execute("/research the rate", models=harness.script("play", script)))
        plain = [{"text": "It is 19 %."}, {"text": "As I said."}]
        unsourced = await harness.ended(
            await harness.execute("/research the rate", models=harness.script("plain", plain))
        )
    assert done.result is not None and unsourced.result is not None
    assert [each.path for each in done.result.sources or ()] == ["shop/tax.py"]
    assert unsourced.result.sources == []
    assert "cites no sources, so nothing in it was checked" in unsourced.result.summary


async def test_a_researcher_gets_five_rounds_and_no_tool_that_changes_anything(tmp_path: Path) -> None:
    look = [{"calls": [{"tool": "read_file", "args": {"path": "shop/tax.py", "startLine": n}}]} for n in range(1, 5)]
    more = [{"calls": [{"tool": "list_dir", "args": {"path": "shop"}}]}] * 10
    with recorded_requests() as requests:
        async with engine_harness(tmp_path) as harness:
            write_files(harness.workspace)
            done = await harness.ended(
                await harness.execute("/research x", models=harness.script("play", [*look, *more]))
            )
    assert done.status is Status.FAILED
    assert done.error is not None and done.error.code == "iteration_limit"
    assert len(requests) == MAX_ROUNDS + 1
    assert all(tool.effects == "none" for request in requests for tool in request.tools)


@pytest.mark.parametrize(
    ("lines", "wanted"), [(7, "7"), ("7", "7"), ("L7-L9", "7-9"), ([7, 9], "7-9"), ("7..9", "7-9"), ("7–9", "7-9")]
)
def test_lines_are_read_in_the_forms_that_models_use(lines: object, wanted: str) -> None:
    found = parse_findings(json.dumps({"answer": "a", "sources": [{"path": "a.py", "lines": lines}]}))
    assert found is not None
    assert [each.lines for each in found.cited] == [wanted]


@pytest.mark.parametrize("text", ["", "no json", '{"answer": ""}', '{"sources": []}', "[1, 2]"])
def test_a_text_without_an_answer_has_no_findings(text: str) -> None:
    assert parse_findings(text) is None
