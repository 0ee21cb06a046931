"""What a reviewer says, read as a verdict."""

from sidecar.agents.verdict import read_verdict


def test_a_verdict_has_its_issues_with_place_severity_and_fix() -> None:
    verdict = read_verdict(
        'One thing.\n```json\n{"passed": false, "issues": [{"file": "a.py", "line": "12-14", "severity": "HIGH", '
        '"message": "It leaks.", "fix": "Close it."}]}\n```'
    )
    assert verdict is not None
    (issue,) = verdict.issues
    assert (issue.file, issue.line, issue.severity, issue.fix) == ("a.py", 12, "error", "Close it.")
    assert verdict.told() == "One thing.\n- error: a.py:12: It leaks. Fix: Close it."


def test_prose_is_no_verdict_and_stands_for_itself() -> None:
    assert read_verdict("It is fine.") is None
    assert read_verdict('{"steps": []}') is None
    assert read_verdict('{"passed": "perhaps"}') is None


def test_a_verdict_without_issues_says_so_in_words() -> None:
    verdict = read_verdict('{"passed": true}')
    assert verdict is not None
    assert verdict.told() == "The review found nothing wrong."
