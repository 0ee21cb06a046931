"""Outlines, symbols and diagnostics as tools report them."""

import json

import pytest

from tests.support.workbench import Workbench


async def test_an_outline_tells_lines_imports_calls_and_complexity(bench: Workbench) -> None:
    branches = "".join(f"    if x == {n}:\n        return {n}\n" for n in range(12))
    bench.write("a.py", f"import os\n\ndef busy(x):\n{branches}\n\ndef calm():\n    return busy(os.getpid())\n")

    content = (await bench.call("analyze_code", path="a.py")).content

    assert "function busy  [complexity 13]" in content
    assert "import os" in content and "busy ×1" in content


async def test_a_symbol_is_found_where_it_is_defined_not_where_it_is_used(bench: Workbench) -> None:
    bench.write("a.py", "class Parser:\n    def parse_all(self): ...\n")
    bench.write("b.py", "from a import Parser\nParser().parse_all()\n")

    assert (await bench.call("find_symbols", query="Parser")).content == "a.py:1 class Parser"
    assert (await bench.call("find_symbols", query="parse")).content.split("\n")[-1] == "a.py:2 method Parser.parse_all"


async def test_a_syntax_error_is_found_without_any_checker_and_new_ones_are_marked(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    bench.write("a.py", "def f(:\n")
    bench.write("b.ts", "const x: = 1;\n")

    first = await bench.call("get_diagnostics")
    assert "a.py:1:7 error: syntax error" in first.content and "b.ts:1" in first.content
    assert "NEW" not in first.content
    bench.write("c.py", "return = 1\n")
    second = await bench.call("get_diagnostics")
    assert second.content.count("NEW") == 1 and "NEW c.py" in second.content


async def test_a_checker_of_the_project_is_used_if_it_has_one(bench: Workbench, request: pytest.FixtureRequest) -> None:
    bench.write("a.py", "import os\n")
    ruff = request.config.rootpath / ".venv/bin/ruff"
    bench.write(".venv/bin/ruff", f'#!/bin/sh\nexec {ruff} "$@"\n').chmod(0o755)

    outcome = await bench.call("get_diagnostics", paths=["a.py"])

    assert "F401" in outcome.content and "checked with: ruff" in outcome.content
    for odd in ("-x.py", "--version.py", "@list.py"):
        bench.write(odd, "import os\n")
        outcome = await bench.call("get_diagnostics", paths=[odd])
        assert f"{odd}:1:8 warning: F401" in outcome.content


def brings(bench: Workbench, name: str, script: str) -> None:
    bench.write(f".venv/bin/{name}", f"#!/bin/sh\n{script}\n").chmod(0o755)


async def test_a_checker_that_fails_is_not_taken_for_one_that_finds_nothing(bench: Workbench) -> None:
    bench.write("a.py", "x = 1\n")
    bench.write("ty.toml", "")
    brings(bench, "ruff", "echo 'ruff failed: unknown field `nonsense`' >&2; exit 2")
    brings(bench, "ty", "echo 'a.py:1:1: error[invalid-assignment] Not that'; exit 1")

    outcome = await bench.call("get_diagnostics", paths=["a.py"])

    assert "ruff did not check: ruff failed: unknown field `nonsense`" in outcome.content
    assert "a.py:1:1 error: [invalid-assignment] Not that" in outcome.content
    assert outcome.content.endswith("checked with: ty, syntax")


async def test_a_linter_is_not_shown_files_of_other_languages(bench: Workbench) -> None:
    bench.write("a.py", "")
    bench.write("b.js", "")
    brings(bench, "ruff", "echo \"$*\" > asked; echo '[]'")

    await bench.call("get_diagnostics", paths=["a.py", "b.js"])

    assert bench.read("asked").endswith(b"-- a.py\n")


async def test_what_others_installed_is_no_problem_of_the_project_unless_it_is_asked_for(bench: Workbench) -> None:
    bench.write("a.py", "x = 1\n")
    found = [
        {"filename": f"{bench.workspace}/{path}", "location": {"row": 1, "column": 1}, "code": "F401", "message": "m"}
        for path in (".venv/lib/b.py", "a.py")
    ]
    brings(bench, "ruff", f"echo '{json.dumps(found)}'")

    whole = (await bench.call("get_diagnostics")).content
    assert "a.py:1:1" in whole and "b.py" not in whole


async def test_errors_come_before_warnings_and_new_findings_before_old_ones(bench: Workbench) -> None:
    bench.write("ty.toml", "")
    bench.write("a.py", "")
    bench.write("b.py", "")
    bench.write(
        "said", "".join(f"a.py:{n}:1: warning[w] {'x' * n}\n" for n in range(1, 150)) + "b.py:1:1: error[e] y\n"
    )
    brings(bench, "ty", "cat said; exit 1")
    brings(bench, "ruff", "echo '[]'")

    lines = (await bench.call("get_diagnostics", paths=["b.py", "a.py"])).content.split("\n")
    assert lines[0] == "b.py:1:1 error: [e] y" and lines[100] == "… 50 more"
    bench.write("said", bench.read("said").decode() + "a.py:1:1: warning[w] broken by the edit\n")
    lines = (await bench.call("get_diagnostics", paths=["b.py", "a.py"])).content.split("\n")
    assert lines[:2] == ["NEW a.py:1:1 warning: [w] broken by the edit", "b.py:1:1 error: [e] y"]


async def test_what_was_not_checked_before_is_not_called_new(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    bench.write("a.py", "x = 1\n")
    bench.write("b.py", "return = 1\n")

    await bench.call("get_diagnostics", paths=["a.py"])
    assert "NEW" not in (await bench.call("get_diagnostics", paths=["b.py"])).content
