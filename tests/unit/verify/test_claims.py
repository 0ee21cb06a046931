import pytest

from sidecar.verify.claims import FileClaim, false_claims, parse_claims, passing_tests


@pytest.mark.parametrize(
    ("words", "made", "changed"),
    [
        ("I created `src/app.py`.", ["src/app.py"], []),
        ("Created src/app.py and src/util.py.", ["src/app.py", "src/util.py"], []),
        ("I've added a new file `docs/usage.md` that explains it.", ["docs/usage.md"], []),
        ("I wrote tests/test_app.py, which reads data.json.", ["tests/test_app.py"], []),
        ("Added a test to tests/test_app.py.", [], ["tests/test_app.py"]),
        ("I fixed the bug in calc.py.", [], ["calc.py"]),
        ("Updated `a.py`, `b.py` and `c.ts`.", [], ["a.py", "b.py", "c.ts"]),
        ("Created files:\n- a.py\n- `b/c.py`: the rest\n\nThat is all.", ["a.py", "b/c.py"], []),
        ("**New files:**\n1. a.py\n2. b.py", ["a.py", "b.py"], []),
        ("I created `utils.py` so that it can be used elsewhere.", ["utils.py"], []),
        ("I created notes.md with everything that you asked for.", ["notes.md"], []),
        ("I created a.py; nothing else had to be changed.", ["a.py"], []),
        ("I did not create src/app.py.", [], []),
        ("You could add a file src/app.py.", [], []),
        ("To run it, you need config.json, which must be written before.", [], []),
        ("The function in calc.py returns a sum.", [], []),
        ("Should I create src/app.py?", [], []),
        ("```\nI created nope.py\n```\nNothing else.", [], []),
        ("I created the class Parser.", [], []),
        ("Fixed: `Choice.shell_complete` in src/click/types.py compares lower-cased input.", [], []),
        ("I added `ignore_case` to `validate.OneOf` and `fields.raw`.", [], []),
        ("I fixed timed.unsign(value) and `Headers.getlist`.", [], []),
        ("I added Node.js 22 and changed `util.h`.", [], ["util.h"]),
        ("I updated package.json and src/data.parquet.", [], ["package.json", "src/data.parquet"]),
        ("Created a.py. I have not written b.py yet.", ["a.py"], []),
        ("I created a.py.\n\nI did not create a.py after all.", [], []),
    ],
)
def test_what_is_said_to_have_been_written_or_changed(words: str, made: list[str], changed: list[str]) -> None:
    files = parse_claims(words).files
    assert [claim.path for claim in files if claim.created] == made
    assert [claim.path for claim in files if not claim.created] == changed


@pytest.mark.parametrize(
    ("words", "passes"),
    [
        ("All tests pass.", True),
        ("The test suite is green now.", True),
        ("Ran pytest: 12 passed in 0.3s.", True),
        ("All checks passed.", True),
        ("I could not run the tests; they may pass.", False),
        ("One test does not pass.", False),
        ("I fixed it.", False),
    ],
)
def test_whether_the_tests_are_said_to_pass(words: str, passes: bool) -> None:
    assert parse_claims(words).tests_pass is passes


@pytest.mark.parametrize(
    ("words", "committed", "names"),
    [
        ("I committed the change as 3f2a91c.", True, ["3f2a91c"]),
        ("The change was made and committed.", True, []),
        ("I have not committed anything.", False, []),
        ("You should commit this.", False, []),
    ],
)
def test_whether_a_commit_is_said_to_have_been_made(words: str, committed: bool, names: list[str]) -> None:
    found = parse_claims(words)
    assert (found.committed, found.commits) == (committed, names)


def test_a_claim_is_false_only_if_the_files_say_so() -> None:
    def false(claim: FileClaim, changed: list[str], there: list[str]) -> bool:
        return bool(false_claims([claim], changed, there))

    assert false(FileClaim("a.py", True), [], [])
    assert not false(FileClaim("a.py", True), ["a.py"], ["a.py"])
    assert not false(FileClaim("a.py", True), ["src/a.py"], [])
    assert not false(FileClaim("/work/src/a.py", True), ["src/a.py"], [])
    assert not false(FileClaim("file.py", False), ["src/my file.py"], [])
    assert not false(FileClaim("a.py", True), [], ["a.py"])  # it was there before: nothing is missing
    assert false(FileClaim("a.py", False), ["b.py"], ["a.py", "b.py"])
    assert not false(FileClaim("a.py", False), ["a.py"], ["a.py"])


@pytest.mark.timeout(5)
@pytest.mark.parametrize("piece", ["a", "a/", "a.", "created ", "`a.py` and ", "added a b c d e f ", "0a"])
def test_the_longest_words_are_read_in_no_time(piece: str) -> None:
    parse_claims(piece * (200_000 // len(piece)))


@pytest.mark.parametrize(
    ("report", "everything", "files"),
    [
        ("The tests pass.", True, set()),
        ("All tests pass.", True, set()),
        ("All 12 tests pass.", True, set()),
        ("12 tests pass.", False, set()),
        ("13 tests pass.", True, set()),
        ("I fixed `src/a.py`, and the tests pass.", True, set()),
        ("12 tests of that file pass, 2 are skipped.", False, set()),
        ("All tests in `tests/test_a.py` pass.", False, {"tests/test_a.py"}),
        ("tests/test_a.py: the tests pass.", False, {"tests/test_a.py"}),
        ("I added tests/test_a.py, and all tests pass.", True, {"tests/test_a.py"}),
        ("The suite passes; the 12 tests of this file passed before.", True, set()),
        ("I ran nothing.", False, set()),
        ("The new test passes.", False, set()),
        ("Both new tests pass.", False, set()),
        ("The related tests pass, and the whole suite passes.", True, set()),
        ("The tests in a_test.py and b_test.py pass.", False, {"a_test.py", "b_test.py"}),
        ("The existing tests still pass.", True, set()),
    ],
)
def test_a_report_says_which_tests_pass(report: str, everything: bool, files: set[str]) -> None:
    assert passing_tests(parse_claims(report), [12]) == (everything, files)
