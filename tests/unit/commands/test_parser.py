"""What cannot be placed on a command line is said in one line, with what was probably meant."""

import pytest

from sidecar.cli import main


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["run", "x", "--aprovals", "auto"], "Unknown option --aprovals. Did you mean --approvals?"),
        (["run", "x", "--nope"], "Unknown option --nope. `brain run --help` lists them."),
        (["tasks", "--statsu=failed"], "Unknown option --statsu. Did you mean --status?"),
        (["run", "x", "--zzz"], "Unknown option --zzz. `brain run --help` lists them."),
        (["run", "explain", "greet"], "Unexpected argument 'greet'. Put the task in quotation marks"),
        (["message", "t_1", "two", "words"], "Unexpected argument 'words'. Put the text in quotation marks"),
        (["fork", "t_1", "two", "words"], "Unexpected argument 'words'. Put the task in quotation marks"),
        (["show", "t_1", "t_2"], "Unexpected argument 't_2'. See `brain show --help`."),
        (["message", "t_1", " "], "The message is empty."),
        (["route", ""], "The task is empty."),
        (
            ["serve", "--port", "70000"],
            "--port: '70000' is not a whole number from 0 to 65535. See `brain serve --help`.",
        ),
        (["serve", "--port", "abc"], "--port: 'abc' is not a whole number from 0 to 65535. See `brain serve --help`."),
        (["run", "x", "--max-cost", "much"], "--max-cost: 'much' is not a number from 0. See `brain run --help`."),
        (["run", "x", "--approvals"], "--approvals: needs a value. See `brain run --help`."),
        (["run", "x", "--approvals", "no"], "--approvals: 'no' is none of ask, edits, auto, readonly."),
        (["run"], "Missing: task. See `brain run --help`."),
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
