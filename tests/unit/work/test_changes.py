import pytest

from sidecar.work.changes import is_test_call
from tools.ledger import IntentRecord


@pytest.mark.parametrize(
    ("command", "only_tests"),
    [
        ("pytest -q tests", True),
        (["python", "-m", "pytest"], True),
        ("pytest -q\ntrue", False),
        ("pytest -q; true", False),
        ("pytest -q | tail -1", False),
    ],
)
def test_a_command_counts_as_tests_only_if_its_exit_code_is_theirs(command: str | list[str], only_tests: bool) -> None:
    intent = IntentRecord(tool="run_command", args={"command": command}, backend="local")  # type: ignore[dict-item]
    assert is_test_call(intent) is only_tests
