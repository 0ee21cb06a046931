from sidecar.verify.change import FileVersions
from sidecar.verify.feedback import make_hints, render_escalation, render_failure, suggest_next
from sidecar.verify.result import Verification, evidence
from sidecar.wire.events import Check

CODE = FileVersions("calc.py", b"old", b"new")
TEST = FileVersions("test_calc.py", b"old", b"new")


def failed(evidence: str, name: str = "all tests", command: str = "pytest") -> Check:
    return Check(name=name, command=command, exit_code=1, passed=False, duration_ms=1, evidence=evidence)


def attempt(number: int, evidence: str, state: str) -> Verification:
    return Verification(passed=False, attempt=number, checks=[failed(evidence)], state=state)


def hints_for(evidence: str, *changes: FileVersions, earlier: tuple[Verification, ...] = (), state: str = "now") -> str:
    return "\n".join(make_hints([failed(evidence)], [], changes or (CODE,), earlier, state))


def test_the_same_files_as_after_an_earlier_attempt_are_told() -> None:
    earlier = (attempt(1, "x", "one"), attempt(2, "y", "two"))
    assert "exactly as they were after attempt 1" in hints_for("z", earlier=earlier, state="one")


def test_the_same_error_twice_is_reported() -> None:
    earlier = (attempt(1, "test_a.py::test_a: assert 1 == 2 (calc.py:3)", "one"),)
    assert "the same error" in hints_for("test_a.py::test_a: assert 1 == 2 (calc.py:7)", earlier=earlier)
    assert "the same error" not in hints_for("test_b.py::test_b: KeyError", earlier=earlier)


def test_what_is_missing_is_named() -> None:
    assert "Importing" not in hints_for("AssertionError")
    assert "Importing parser fails" in hints_for("ModuleNotFoundError: No module named 'parser'")
    assert "total is used but not defined" in hints_for("NameError: name 'total' is not defined")


def test_whether_the_test_or_the_code_was_changed_makes_a_difference() -> None:
    assert "fix the code, not the tests" in hints_for("test_calc.py::test_add", CODE)
    assert "changed test_calc.py along with the code" in hints_for("test_calc.py::test_add", CODE, TEST)
    assert "You changed only tests" in hints_for("test_calc.py::test_add", TEST)


def test_the_next_attempt_is_told_what_failed_and_what_may_help() -> None:
    verification = Verification(
        passed=False,
        attempt=1,
        checks=[failed("test_calc.py::test_add: assert 6 == 5")],
        notes=["Flaky: test_x"],
        hints=["Mend the code."],
    )
    text = render_failure(verification, ["calc.py"])
    for words in (
        "calc.py",
        "`pytest`, exit code 1",
        "assert 6 == 5",
        "Flaky: test_x",
        "Mend the code.",
        "delete, skip",
    ):
        assert words in text


def test_a_user_is_told_what_is_known_and_what_they_can_do() -> None:
    verification, earlier = (
        attempt(3, "test_add: assert 6 == 5", "one"),
        [attempt(1, "x", "one"), attempt(2, "x", "two")],
    )
    told_so = render_escalation(verification, earlier)
    assert "Tried 3 times" in told_so
    assert "assert 6 == 5" in told_so
    assert "made the same change as an earlier one" in told_so
    offered = suggest_next(verification, ["calc.py"])
    assert [text.partition(":")[0] for text in offered][:3] == ["Simplify", "Give more context", "Fix it by hand"]
    assert "`pytest`" in offered[2]
    assert "calc.py" in offered[2]


def test_evidence_ends_between_words_and_counts_what_is_missing() -> None:
    long = evidence(["word " * 300])
    assert len(long) <= 500 and long.endswith("word …")
    many = evidence([f"line {number} " + "x" * 200 for number in range(60)]).splitlines()
    assert sum(len(line) + 1 for line in many) <= 4_001
    assert all(line.endswith("x" * 200) for line in many[:-1])
    assert many[-1] == f"… {60 - (len(many) - 1)} more"
