"""The checks that need nothing to be run: whether it parses, and whether what was said is so."""

import pytest

from sidecar.verify.change import FileVersions, is_document
from sidecar.verify.claims import PlannedFiles
from sidecar.verify.syntax import check_syntax
from tests.support.claims import claim_problems, problems
from tests.support.workbench import Workbench


@pytest.mark.parametrize(
    ("path", "broken", "whole"),
    [
        ("a.py", b"def f(:\n", b"def f(): ...\n"),
        ("a.json", b"{,}", b"{}"),
        ("a.toml", b"a = \n", b"a = 1\n"),
        ("a.ts", b"function f( {", b"function f() {}"),
        ("a.tsx", b"const a = <div>;", b"const a = <div />;"),
        ("a.go", b"package a\nfunc f( {", b"package a\nfunc f() {}\n"),
        ("a.rs", b"fn f( {", b"fn f() {}"),
    ],
)
def test_a_file_that_no_longer_parses_is_a_fault(path: str, broken: bytes, whole: bytes) -> None:
    assert path in problems(check_syntax([FileVersions(path, whole, broken)]))
    assert problems(check_syntax([FileVersions(path, None, whole)])) == ""
    assert problems(check_syntax([FileVersions(path, broken, broken + b" ")])) == ""  # it did not parse before either


def test_what_has_no_syntax_is_not_looked_at() -> None:
    assert check_syntax([FileVersions("notes.md", b"", b"# {"), FileVersions("a.py", b"x = 1", None)]) is None


def test_documents_prove_nothing_and_cannot_be_disproved() -> None:
    assert is_document("docs/README.md")
    assert is_document("LICENSE")
    assert not is_document("pyproject.toml")


async def test_a_file_that_was_said_to_be_written_must_be_there(bench: Workbench) -> None:
    calc = ("old", "new")
    assert "missing.py was reported as written" in await claim_problems(bench, "I created `missing.py`.", calc__py=calc)
    assert await claim_problems(bench, "I updated `calc.py`.", calc__py=calc) == ""
    bench.write("same.py", "same")
    assert "same.py was reported as changed" in await claim_problems(bench, "I updated `same.py`.", calc__py=calc)


async def test_a_planned_file_that_was_never_written_is_found_unless_it_is_explained(bench: Workbench) -> None:
    planned: list[PlannedFiles] = [("Write the parser", ["parser.py", "calc.py"]), ("Delete the old one", ["old.py"])]
    calc = ("old", "new")
    assert await claim_problems(bench, "Done.", planned, calc__py=calc) == (
        "parser.py was planned (Write the parser), but there is no such file"
    )
    assert (
        await claim_problems(bench, "Done. I did not write parser.py: calc.py has one.", planned, calc__py=calc) == ""
    )
