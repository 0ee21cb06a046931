"""Import pictures, test files and READMEs."""

import re

import pytest

from tools.code.files import is_test
from tools.code.graph import NODES, Graph, mermaid
from tools.code.manifest import first_paragraph


def test_a_picture_stays_small_and_its_labels_are_plain() -> None:
    edges = {f'f"{number}]/a.py': {f'f"{number + 1}]/a.py'} for number in range(60)}

    picture, left_out = mermaid(Graph(edges))

    assert picture.count("[") == NODES and "smaller folders" in left_out
    for line in picture.splitlines()[1:]:
        assert re.fullmatch(r'  n\d+(\["[\w/#;.]+"\]| -->\|\d+\| n\d+)', line), line


@pytest.mark.parametrize("path", ["tests/a.py", "test_a.py", "src/a.test.ts", "a_test.go", "src/__tests__/a.js"])
def test_tests_are_known_by_their_names(path: str) -> None:
    assert is_test(path)
    assert not is_test("src/testing.py") and not is_test("contest.py")


def test_the_first_words_of_a_readme_are_a_sentence() -> None:
    assert (
        first_paragraph("# A\n\n<p>x</p>\n\n- a list\n\n> A tool that does things.\n\nMore")
        == "A tool that does things."
    )
    assert first_paragraph("# Only a heading") == ""
    links = '**Source Code**: <a href="https://example.org/a b" target="_blank">https://example.org</a>'
    assert first_paragraph(f"# A\n\n{links}\n\n---\n\nIt is a small web framework.") == "It is a small web framework."
