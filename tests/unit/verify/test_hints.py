from sidecar.verify.change import Change
from sidecar.verify.escalation import reason, suggestions
from sidecar.verify.hints import hints
from sidecar.verify.recovery import to_mend
from sidecar.verify.result import Checked
from sidecar.wire.events import Check

CODE = Change("calc.py", b"old", b"new")
TEST = Change("test_calc.py", b"old", b"new")


def failed(evidence: str, name: str = "all tests", command: str = "pytest") -> Check:
    return Check(name=name, command=command, exit_code=1, passed=False, duration_ms=1, evidence=evidence)


def attempt(number: int, evidence: str, state: str) -> Checked:
    return Checked(passed=False, attempt=number, checks=[failed(evidence)], state=state)


def told(evidence: str, *changes: Change, earlier: tuple[Checked, ...] = (), state: str = "now") -> str:
    return "\n".join(hints([failed(evidence)], [], changes or (CODE,), earlier, state))


def test_the_same_files_as_after_an_earlier_attempt_are_told() -> None:
    earlier = (attempt(1, "x", "one"), attempt(2, "y", "two"))
    assert "exactly as they were after attempt 1" in told("z", earlier=earlier, state="one")


def test_the_same_error_twice_is_told() -> None:
    earlier = (attempt(1, "test_a.py::test_a: assert 1 == 2 (calc.py:3)", "one"),)
    assert "the same error" in told("test_a.py::test_a: assert 1 == 2 (calc.py:7)", earlier=earlier)
    assert "the same error" not in told("test_b.py::test_b: KeyError", earlier=earlier)


def test_what_is_missing_is_named() -> None:
    assert "No_such cannot be imported" not in told("AssertionError")
    assert "parser cannot be imported" in told("ModuleNotFoundError: No module named 'parser'")
    assert "total is used and not defined" in told("NameError: name 'total' is not defined")


def test_whether_the_test_or_the_code_was_changed_makes_a_difference() -> None:
    assert "mend the code, not the tests" in told("test_calc.py::test_add", CODE)
    assert "test_calc.py was changed along with the code" in told("test_calc.py::test_add", CODE, TEST)
    assert "Only tests were changed" in told("test_calc.py::test_add", TEST)


def test_the_next_attempt_is_told_what_failed_and_what_may_help() -> None:
    checked = Checked(
        passed=False,
        attempt=1,
        checks=[failed("test_calc.py::test_add: assert 6 == 5")],
        notes=["Flaky: test_x"],
        hints=["Mend the code."],
    )
    text = to_mend(checked, ["calc.py"])
    for words in (
        "calc.py",
        "`pytest`, exit code 1",
        "assert 6 == 5",
        "Flaky: test_x",
        "Mend the code.",
        "delete, skip",
    ):
        assert words in text


def test_a_person_is_told_what_is_known_and_what_they_can_do() -> None:
    checked, earlier = attempt(3, "test_add: assert 6 == 5", "one"), [attempt(1, "x", "one"), attempt(2, "x", "two")]
    told_so = reason(checked, earlier)
    assert "tried 3 times" in told_so
    assert "assert 6 == 5" in told_so
    assert "did the same as one before it" in told_so
    offered = suggestions(checked, ["calc.py"])
    assert [text.partition(":")[0] for text in offered][:3] == ["Simplify", "Give more context", "Do it by hand"]
    assert "`pytest`" in offered[2]
    assert "calc.py" in offered[2]
