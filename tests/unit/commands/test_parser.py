"""What cannot be placed on a command line is said in one line, with what was probably meant."""

import pytest

from sidecar.cli import main


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["run", "x", "--aprovals", "auto"], "Unknown option --aprovals. Did you mean --approvals?"),
        (["tasks", "--statsu=failed"], "Unknown option --statsu. Did you mean --status?"),
        (["run", "x", "--zzz"], "Unknown option --zzz. `brain run --help` lists them."),
        (["run", "explain", "greet"], "Unexpected argument 'greet'. Put the task in quotation marks"),
        (["message", "t_1", "two", "words"], "Unexpected argument 'words'. Put the text in quotation marks"),
        (["fork", "t_1", "two", "words"], "Unexpected argument 'words'. Put the task in quotation marks"),
        (["show", "t_1", "t_2"], "Unexpected argument 't_2'. See `brain show --help`."),
        (["message", "t_1", " "], "The message is empty."),
        (["route", ""], "The task is empty."),
    ],
)
def test_what_cannot_be_placed_is_said_in_one_line(
    line: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"brain: {told}")
    assert said.err.count("\n") == 1
    assert said.out == ""
