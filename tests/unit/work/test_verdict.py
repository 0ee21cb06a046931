"""What a reviewer says, read as a verdict."""

import pytest

from sidecar.verify.result import Verification
from sidecar.wire.events import Check
from sidecar.work.review import render_checks
from sidecar.work.verdict import looks_like_verdict, parse_verdict


def test_a_verdict_has_its_issues_with_place_severity_and_fix() -> None:
    verdict = parse_verdict(
        'One thing.\n```json\n{"passed": false, "issues": [{"file": "a.py", "line": "12-14", "severity": "HIGH", '
        '"message": "It leaks.", "fix": "Close it."}]}\n```'
    )
    assert verdict is not None
    (issue,) = verdict.issues
    assert (issue.file, issue.line, issue.severity, issue.fix) == ("a.py", 12, "error", "Close it.")
    assert verdict.render() == "One thing.\n- error: a.py:12: It leaks. Fix: Close it."


@pytest.mark.parametrize(
    ("said", "issues"),
    [
        ('{"passed": false, "issues": ["It leaks."]}', ["warning: It leaks."]),
        ('{"passed": false, "issues": "It leaks."}', ["warning: It leaks."]),
        ('{"passed": "no", "issues": null, "summary": null}', []),
        ('{"Passed": false, "issues": [{"message": "x", "line": 3.0, "file": null, "fix": null}]}', ["warning: x"]),
        ('{"passed": false, "issues": [{"file": "a.py", "line": "L7", "fix": "Close it."}]}', None),
        ('{"verdict": {"passed": false, "issues": [{"problem": "It leaks."}]}}', ["warning: It leaks."]),
        ('{"issues": [{"message": "It leaks.", "severity": "critical"}]}', ["error: It leaks."]),
        ('{"approved": false, "issues": [{"path": "a.py", "text": "It leaks."}]}', ["warning: a.py: It leaks."]),
        ('[{"passed": false}]', []),
    ],
)
def test_what_is_wrong_is_not_lost_because_of_its_form(said: str, issues: list[str] | None) -> None:
    verdict = parse_verdict(said)
    assert verdict is not None
    assert verdict.passed is False
    found = [issue.render() for issue in verdict.issues]
    assert found == (["warning: a.py:7: Close it. Fix: Close it."] if issues is None else issues)
    assert verdict.render().startswith("The review found problems.")


def test_issues_without_an_error_pass_by_themselves() -> None:
    verdict = parse_verdict('Fine. {"issues": [{"message": "a word too much", "severity": "hint"}]}')
    assert verdict is not None
    assert (verdict.passed, verdict.summary) == (True, "Fine.")


def test_what_passes_with_remarks_is_not_said_to_have_nothing_wrong() -> None:
    verdict = parse_verdict('{"passed": true, "issues": [{"message": "It leaks.", "severity": "error"}]}')
    assert verdict is not None and verdict.passed
    assert verdict.render() == "The review found nothing that must be fixed.\n- error: It leaks."


def test_a_verdict_that_was_meant_is_known_from_prose() -> None:
    assert looks_like_verdict('```json\n{"passed": false, "issues": [{"mess')
    assert not looks_like_verdict("It passed, and has no issues.")


def test_prose_is_no_verdict_and_stands_for_itself() -> None:
    assert parse_verdict("It is fine.") is None
    assert parse_verdict('{"steps": []}') is None
    assert parse_verdict('{"passed": "perhaps"}') is None


def test_a_verdict_without_issues_says_so_in_words() -> None:
    verdict = parse_verdict('{"passed": true}')
    assert verdict is not None
    assert verdict.render() == "The review found no problems."


def test_a_reviewer_reads_a_long_command_on_one_line() -> None:
    command = " ".join(["python -m pytest", *(f"tests/test_{number}.py" for number in range(40))])
    check = Check(name="tests", command=command, exit_code=0, passed=True, duration_ms=1, evidence="")
    (_, line) = render_checks(Verification(passed=True, attempt=1, checks=[check])).splitlines()
    assert line.startswith("- tests (`python -m pytest tests/test_0.py ") and line.endswith(".py …`): passed")
