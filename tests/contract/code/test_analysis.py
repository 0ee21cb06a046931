"""Outlines, symbols and diagnostics as tools report them."""

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
