"""SECURITY.md is held to its word: each promise names the test that holds it, and each test is named there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
LINKS = re.findall(r"\[([^\]]+)\]\(([^)]+)\)", PAGE)


def test_every_control_is_linked_to_a_test_that_is_there() -> None:
    rows = [line for line in PAGE.partition("## When it needs your approval")[0].splitlines() if line.startswith("| ")][
        2:
    ]
    assert len(rows) > 10
    for row in rows:
        assert re.search(r"\]\(tests/[\w/]+\.py\)", row.rpartition(" | ")[2]), row
    assert [target for _, target in LINKS if not (ROOT / target).is_file()] == []


def test_a_link_to_a_fault_leads_to_a_test_of_that_fault() -> None:
    for words, target in LINKS:
        if number := re.match(r"([SF])(\d+)", words):
            name = f"test_{number[1].lower()}{int(number[2]):02}_"
            text = (ROOT / target).read_text(encoding="utf-8")
            assert f"def {name}" in text or f"_{name[5:]}" in text or "S24" in words, (words, target)


def test_every_fault_and_every_file_of_these_tests_is_named() -> None:
    named = {target for _, target in LINKS}
    files = {f"tests/security/{place.name}" for place in (ROOT / "tests/security").glob("test_*.py")}
    assert files - named - {"tests/security/test_the_promises.py"} == set()
    faults = {int(number) for words, _ in LINKS for number in re.findall(r"\bS(\d+)", words)}
    assert faults >= {*range(1, 25), 26, 27, 30, 31}
