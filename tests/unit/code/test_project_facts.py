"""Import pictures, test files and READMEs."""

import re

from tools.code.graph import NODES, Graph, mermaid
from tools.code.manifest import first_paragraph


def test_a_picture_stays_small_and_its_labels_are_plain() -> None:
    edges = {f'f"{number}]/a.py': {f'f"{number + 1}]/a.py'} for number in range(60)}

    picture, left_out = mermaid(Graph(edges))

    assert picture.count("[") == NODES and "smaller folders" in left_out
    for line in picture.splitlines()[1:]:
        assert re.fullmatch(r'  n\d+(\["[\w/#;.]+"\]| -->\|\d+\| n\d+)', line), line


def test_the_first_words_of_a_readme_are_a_sentence() -> None:
    assert (
        first_paragraph("# A\n\n<p>x</p>\n\n- a list\n\n> A tool that does things.\n\nMore")
        == "A tool that does things."
    )
    assert first_paragraph("# Only a heading") == ""
    links = '**Source Code**: <a href="https://example.org/a b" target="_blank">https://example.org</a>'
    assert first_paragraph(f"# A\n\n{links}\n\n---\n\nIt is a small web framework.") == "It is a small web framework."
