"""Outlines, symbols and diagnostics."""

import pytest

from tests.unit.tools.workbench import Workbench
from tools.code.outline import outline_of
from tools.code.source import Source

SOURCES = {
    "a.py": ("import os\n\nclass A:\n    def f(self, x):\n        return os.getcwd() if x else None\n", "A f"),
    "a.js": ("import x from 'y';\nclass A { f() { g(); } }\nconst h = () => 1;\nfunction k() {}\n", "A f h k"),
    "a.ts": ("interface I { x: number }\ntype T = I;\nenum E { A }\nexport class C { m(): void {} }\n", "I T E C m"),
    "a.tsx": ("export const App = () => <div/>;\nfunction Other(): JSX.Element { return <p/>; }\n", "App Other"),
    "a.go": ('package a\nimport "fmt"\ntype T struct{}\nfunc (t T) M() { fmt.Println() }\nfunc F() {}\n', "T M F"),
    "a.rs": ("use std::fmt;\nstruct S;\nimpl S { fn m(&self) {} }\nenum E { A }\nfn f() { g(); }\n", "S m E f"),
    "A.java": ("import java.util.List;\nclass A { A() {} void m() { n(); } }\ninterface I {}\n", "A A m I"),
    "a.c": ("#include <stdio.h>\nstruct s { int x; };\nint *f(int a) { return g(a); }\n", "s f"),
    "a.cpp": ("#include <x>\nnamespace n { class C { void m() {} }; }\nint main() { return 0; }\n", "n C m main"),
}


@pytest.mark.parametrize("path", SOURCES)
def test_the_outline_of_each_language_names_its_symbols(path: str) -> None:
    source, names = SOURCES[path]
    outline = outline_of(Source(path, source.encode()))

    assert outline is not None
    assert [symbol.name for symbol in outline.items] == names.split()
    assert not outline.errors


@pytest.mark.parametrize(
    ("path", "source", "line"),
    [
        ("a.py", "x = 1\ndef f(:\n    pass\n", 2),
        ("a.ts", "\nconst x = {;\n", 2),
        ("a.go", "package a\nfunc f( {\n}\n", 2),
    ],
)
def test_what_is_missing_is_a_syntax_error_like_what_is_wrong(path: str, source: str, line: int) -> None:
    outline = outline_of(Source(path, source.encode()))
    assert outline is not None and outline.errors[:1] == [line]


def test_what_is_newer_than_the_grammar_is_no_error() -> None:
    outline = outline_of(Source("a.ts", b'export type * from "./b";\n'))
    assert outline is not None and not outline.errors


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
