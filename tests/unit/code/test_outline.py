"""Outlines of all languages."""

import pytest

from tools.code.outline import outline_of
from tools.code.source import SourceText

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
    outline = outline_of(SourceText(path, source.encode()))

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
    outline = outline_of(SourceText(path, source.encode()))
    assert outline is not None and outline.errors[:1] == [line]


def test_what_is_newer_than_the_grammar_is_no_error() -> None:
    outline = outline_of(SourceText("a.ts", b'export type * from "./b";\n'))
    assert outline is not None and not outline.errors
