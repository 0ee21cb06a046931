import pytest

from sidecar.verify.change import FileVersions
from sidecar.verify.counts import Count, parse_counts
from sidecar.verify.facts import SuiteFacts, TaskFacts, check_passed, count_new_tests


@pytest.mark.parametrize(
    ("words", "claimed"),
    [
        ("Created 2 commits, modified 3 files, tests pass", [("commits", 2), ("changed", 3)]),
        ("I made two commits and changed 3 files.", [("commits", 2), ("changed", 3)]),
        (
            "- Created 2 commits\n- Modified 3 files\n- All 14 tests pass",
            [("commits", 2), ("changed", 3), ("passed", 14)],
        ),
        ("Two commits were created.", [("commits", 2)]),
        ("I created a commit.", [("commits", 1)]),
        ("Committed the work in 2 commits.", [("commits", 2)]),
        ("Made 2 atomic commits with clear messages.", [("commits", 2)]),
        ("3 files were modified.", [("changed", 3)]),
        ("A total of 3 files were changed.", [("changed", 3)]),
        ("**Files changed:** 3", [("changed", 3)]),
        ("Commits: 2", [("commits", 2)]),
        ("Committed 2 files.", []),
        ("Fixed the bug in 3 files.", [("changed", 3)]),
        ("Created 2 new Python files and deleted 4 files.", [("created", 2), ("deleted", 4)]),
        ("I've also added 2 test files.", [("created", 2)]),
        ("Added 5 unit tests.", [("tests", 5)]),
        ("Ran pytest: 12 passed in 0.3s.", [("passed", 12)]),
        ("12/12 tests pass.", [("passed", 12)]),
        ("3 of 5 tests pass.", [("passed", 3)]),
        ("Tests passed: 12", [("passed", 12)]),
        ("Ich habe 2 Commits erstellt und 3 Dateien geändert.", [("commits", 2), ("changed", 3)]),
        ("Alle 5 Tests bestanden.", [("passed", 5)]),
        ("J'ai créé 2 commits et modifié 3 fichiers.", [("commits", 2), ("changed", 3)]),
        ("He creado dos commits y modificado 3 archivos.", [("commits", 2), ("changed", 3)]),
        ("Ho creato 2 commit e modificato 3 file.", [("commits", 2), ("changed", 3)]),
        ("The change touches 4 files.", [("changed", 4)]),
        ("Made changes to 3 files.", [("changed", 3)]),
        ("I added 2 tests; all 4 changed files are formatted.", [("tests", 2), ("changed", 4)]),
        ("The 3 modified files pass the linter.", [("changed", 3)]),
        ("Alle 3 geänderten Dateien sind formatiert.", [("changed", 3)]),
        ("I pushed 2 commits.", [("commits", 2)]),
        ("- 2 commits\n- 3 files modified", [("commits", 2), ("changed", 3)]),
        ("Ran 45 tests, all green.", [("passed", 45)]),
        ("45 tests ran successfully.", [("passed", 45)]),
        ("The tests pass (12/12).", [("passed", 12)]),
        ("100% of the 12 tests pass.", [("passed", 12)]),
    ],
)
def test_a_number_in_a_plain_statement_is_a_claim(words: str, claimed: list[tuple[str, int]]) -> None:
    assert [(count.kind, count.number) for count in parse_counts(words)] == claimed


@pytest.mark.parametrize(
    "words",
    [
        "I did not create 2 commits.",
        "You could add 3 tests.",
        "Should I split it into 2 commits?",
        "The last release changed 3 files.",
        "The command created 3 files.",
        "The 3 files changed in the last commit are fine.",
        "The 3 changed files of the last commit are fine.",
        "It lists the 3 changed files.",
        "Updated the parser to read 3 files.",
        "Updated 2 functions in app.py.",
        "Changed about 3 files.",
        "This creates 3 files when it runs.",
        "The repository has 2 commits and 3 files.",
        "```\nCreated 2 commits\n```",
        "Ich habe nicht 2 Commits erstellt.",
        "Created version 2 of the file.",
        "Fixed 3 failing tests.",
        "Committed 1 file:",
        "Pushed 3 files.",
    ],
)
def test_what_is_no_plain_statement_about_the_own_work_claims_nothing(words: str) -> None:
    assert parse_counts(words) == []


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "piece", ["2 ", "created 2 new ", "i have ", "a total of ", "1/", "changed x x x in ", "2 a b "]
)
def test_the_longest_numbers_are_read_in_no_time(piece: str) -> None:
    parse_counts((piece * (900 // len(piece)) + "files\n") * 20)


@pytest.mark.parametrize(
    ("path", "before", "after", "new"),
    [
        ("test_a.py", "def test_a(): pass\n", "def test_a(): pass\ndef test_b(): pass\n", 1),
        ("a.test.js", "", "test('a', () => {});\nit('b', () => {});\n", 2),
        ("a.test.ts", "", "test('a', (): void => {});\n", 1),
        ("a_test.go", "", "package a\nfunc TestA(t *testing.T) {}\n", 1),
        ("a.rs", "", "#[test]\nfn a() {}\n#[test]\nfn b() {}\n", 2),
        ("test_a.py", "", "@pytest.mark.parametrize('x', [1, 2])\ndef test_a(x): pass\n", None),
        ("a_test.go", "", 'package a\nfunc TestA(t *testing.T) { t.Run("x", f) }\n', None),
    ],
)
def test_new_tests_are_counted_in_five_languages(path: str, before: str, after: str, new: int | None) -> None:
    assert count_new_tests([FileVersions(path, before.encode(), after.encode())]) == new


def test_a_number_of_passing_tests_needs_a_run_with_as_many() -> None:
    twelve = [Count("passed", 12, "12 tests pass")]

    def problems(facts: TaskFacts, suite: SuiteFacts) -> list[str]:
        return check_passed(twelve, facts, suite, claims_pass=True)

    (said,) = problems(TaskFacts(), SuiteFacts(passed=1))
    assert "at most 1 test passed" in said
    assert problems(TaskFacts(passed=[3]), SuiteFacts()) != []
    assert problems(TaskFacts(), SuiteFacts(none_ran=True)) != []
    # Doubt is no lie.
    assert problems(TaskFacts(), SuiteFacts()) == []
    assert problems(TaskFacts(passed=[12]), SuiteFacts(passed=1)) == []
    assert problems(TaskFacts(uncounted_tests=True), SuiteFacts(passed=1)) == []
    assert problems(TaskFacts(ran_commands=True), SuiteFacts(none_ran=True)) == []
