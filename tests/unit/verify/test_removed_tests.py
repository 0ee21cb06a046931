import pytest

from sidecar.verify.change import FileVersions
from sidecar.verify.removed_tests import asks_to_remove, check_assertions, find_removed, find_rewritten

ADD = b"def test_add():\n    assert add(1, 2) == 3\n"
SUB = b"def test_sub():\n    assert sub(3, 2) == 1\n"


def gone(before: bytes | None, after: bytes | None, *others: FileVersions) -> list[tuple[str, str]]:
    return [(test.name, test.how) for test in find_removed([FileVersions("test_a.py", before, after), *others])]


def test_a_test_that_was_deleted_skipped_or_emptied_has_vanished() -> None:
    assert gone(ADD + SUB, SUB) == [("test_a.py::test_add", "was deleted")]
    assert gone(ADD, None) == [("test_a.py::test_add", "was deleted")]
    assert gone(ADD, b"@pytest.mark.skip\n" + ADD) == [("test_a.py::test_add", "is skipped now")]
    assert gone(ADD, b"def test_add():\n    pass\n") == [("test_a.py::test_add", "no longer asserts anything")]


def test_a_test_that_is_still_there_has_not() -> None:
    assert gone(ADD, ADD + SUB) == []
    assert gone(ADD, ADD.replace(b"3", b"4")) == []
    assert gone(ADD, None, FileVersions("tests/test_b.py", None, ADD)) == []
    assert gone(b"def test_add():\n    pass\n", None) == []


def test_a_test_that_was_renamed_with_what_it_tests_is_marked_so() -> None:
    old = b"def test_add():\n    result = add(1, 2)\n    assert result == 3\n    assert add(0, 0) == 0\n"
    (test,) = find_removed([FileVersions("test_a.py", old, old.replace(b"add", b"plus"))])
    assert test.renamed
    (test,) = find_removed([FileVersions("test_a.py", old, SUB)])
    assert not test.renamed


def test_a_test_that_does_something_else_under_its_name_was_rewritten() -> None:
    assert [test.name for test in find_rewritten([FileVersions("test_a.py", ADD, ADD.replace(b"3", b"4"))])] == [
        "test_a.py::test_add"
    ]
    assert find_rewritten([FileVersions("test_a.py", ADD, b"# a note\n" + ADD + SUB)]) == []
    assert find_rewritten([FileVersions("test_a.py", ADD, ADD + b"    assert add(0, 0) == 0\n")]) == []
    script = b'test("a", () => {\n  expect(f(1)).toBe(2);\n});\n'
    longer = script.replace(b"  expect", b"  expect(f(0)).toBe(1);\n  expect")
    assert find_rewritten([FileVersions("a.test.ts", script, longer)]) == []
    assert len(find_rewritten([FileVersions("a.test.ts", script, longer.replace(b"toBe(2)", b"toBe(3)"))])) == 1
    ends_early = b"def test_add():\n    assert True\n    return\n    assert add(1, 2) == 3\n"
    assert len(find_rewritten([FileVersions("test_a.py", ADD, ends_early)])) == 1


@pytest.mark.parametrize(
    ("request_", "asked"),
    [
        ("delete the tests of add", True),
        ("remove the old function add", True),
        ("fix the bug in add", False),
        ("remove the parser", False),
        ("make the tests pass", False),
        ("remove the debug output and make the tests pass", False),
        ("drop `add` and everything that uses it", True),
        ("add a test that fails if we delete a file", False),
    ],
)
def test_a_removal_is_excused_only_by_the_users_own_words(request_: str, asked: bool) -> None:
    (test,) = find_removed([FileVersions("test_a.py", ADD, None)])
    assert asks_to_remove(request_, test) is asked


def test_a_new_test_that_asserts_nothing_is_a_fault_and_an_old_one_is_not() -> None:
    empty = b"def test_nothing():\n    add(1, 2)\n"
    found = check_assertions([FileVersions("test_a.py", ADD, ADD + empty)])
    assert found is not None
    assert found.check is not None
    assert not found.check.passed
    assert found.check.evidence == "test_a.py:3: test_nothing asserts nothing, so it can never fail"
    assert check_assertions([FileVersions("test_a.py", empty, empty + b"\n")]) is None
    good = check_assertions([FileVersions("test_a.py", None, ADD)])
    assert good is not None
    assert good.check is not None
    assert good.check.passed
