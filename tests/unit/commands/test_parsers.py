"""What cannot be placed on a command line is said in one line, with what was probably meant."""

import pytest

from sidecar.cli import main


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["run", "x", "--aprovals", "auto"], "There is no option --aprovals. Did you mean --approvals?"),
        (["tasks", "--statsu=failed"], "There is no option --statsu. Did you mean --status?"),
        (["run", "x", "--zzz"], "There is no option --zzz. `brain run --help` lists them."),
        (["run", "explain", "greet"], "'greet' is one word too many. The task is one argument: put it between"),
        (["message", "t_1", "two", "words"], "'words' is one word too many. The text is one argument: put it between"),
        (["fork", "t_1", "two", "words"], "'words' is one word too many. The task is one argument: put it between"),
        (["show", "t_1", "t_2"], "'t_2' is one word too many. `brain show --help` has examples."),
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
