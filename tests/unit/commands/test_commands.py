"""Commands: help, completion, arguments and tables."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sidecar import cli
from sidecar.client.client import parse_refusal
from sidecar.commands.completion import candidates
from sidecar.commands.doctor import render_finding
from sidecar.commands.errors import CommandFailed
from sidecar.commands.panel import has_desktop
from sidecar.commands.parser import build, handler
from sidecar.commands.run import PIPED_BYTES, parse_models, read_piped
from sidecar.commands.table import COMMANDS, DEFAULT, Command
from sidecar.commands.tasks import format_age, format_table
from sidecar.commands.text import Style, style_for
from sidecar.commands.tools import parse_arguments
from sidecar.doctor.report import missing, ok


def test_the_overview_names_every_command_and_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in COMMANDS)
    assert all(f"\n  {code} " in shown for code in (0, 1, 2, 3, 4, 5, 130))


def test_a_mistyped_command_is_recognised(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["taks"]) == 2
    assert "Did you mean `brain tasks`?" in capsys.readouterr().err


def test_a_task_without_its_command_is_recognised(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run the tests"]) == 2
    assert 'brain run "run the tests"' in capsys.readouterr().err


def test_an_option_before_the_command_is_recognised(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--data-dir", "x", "tasks"]) == 2
    assert "Options come after the command: brain tasks" in capsys.readouterr().err


def test_a_data_directory_that_cannot_be_is_one_clear_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert cli.main(["tasks", "--data-dir", str(tmp_path / "file" / "data")]) == 4
    assert "Not a directory. Choose another with --data-dir" in capsys.readouterr().err


@pytest.mark.parametrize("command", [*COMMANDS.values(), DEFAULT], ids=lambda command: command.name or "brain")
def test_every_command_has_help_and_a_handler(command: Command) -> None:
    assert command.name in build(command).format_help()
    for each in command.actions or (command,):
        assert callable(handler(each.handler))
        assert all(argument.settings["help"] for argument in each.arguments)


def test_values_of_a_tool_are_json_where_they_are_json_and_text_otherwise() -> None:
    given = parse_arguments(
        ["path=src", "depth=2", "regex=true", 'paths=["a","b"]', 'query="42"', "content=a=b", "empty="]
    )
    assert given == {
        "path": "src",
        "depth": 2,
        "regex": True,
        "paths": ["a", "b"],
        "query": "42",
        "content": "a=b",
        "empty": "",
    }
    with pytest.raises(CommandFailed, match="key=value"):
        parse_arguments(["path"])


def test_a_model_is_for_every_role_or_for_one() -> None:
    assert parse_models(["a/1"]) == {"fast": "a/1", "smart": "a/1", "instant": "a/1"}
    assert parse_models(["smart=b/2", "a/1"]) == {"fast": "a/1", "smart": "b/2", "instant": "a/1"}
    with pytest.raises(CommandFailed, match="unknown role slow"):
        parse_models(["slow=a/1"])


def test_a_problem_document_becomes_its_sentence() -> None:
    problem = parse_refusal(404, b'{"code":"unknown_task","detail":"There is no task t_1.","status":404}')
    assert (str(problem), problem.code) == ("There is no task t_1.", "unknown_task")
    assert "answered 502" in str(parse_refusal(502, b"<html>"))


def test_the_table_of_tasks_fits_and_shows_what_counts() -> None:
    task = {"id": "t_0123456789abcdef0123", "status": "completed", "createdAt": "2026-01-01T00:00:00.000Z"}
    lines = format_table(
        [{**task, "title": "x\x1b" * 100, "verified": True}], Style(colour=False), 80, datetime(2026, 1, 2, tzinfo=UTC)
    )
    assert lines[1].startswith("t_01234567  completed    1 d ")
    assert lines[1].endswith("✓ verified")
    assert len(lines[1]) <= 80
    assert "\x1b" not in lines[1]


def test_of_a_task_of_another_directory_it_is_said_where_it_is() -> None:
    task = {"id": "t_0123456789abcdef0123", "status": "failed", "createdAt": "2026-01-01T00:00:00.000Z"}
    tasks = [
        {**task, "title": "x" * 100, "verified": None, "workspace": place} for place in ("/home/shop", "/home/bank")
    ]
    _, here, elsewhere = format_table(tasks, Style(colour=False), 80, datetime(2026, 1, 2, tzinfo=UTC), "/home/shop")
    assert " in " not in here
    assert elsewhere.endswith("… in bank")
    assert len(here) <= 80 and len(elsewhere) <= 80


@pytest.mark.parametrize(("seconds", "told_as"), [(5, "5 s"), (90, "1 min"), (7_200, "2 h"), (172_800, "2 d")])
def test_ages_are_rough(seconds: int, told_as: str) -> None:
    assert format_age("2026-01-01T00:00:00Z", datetime.fromtimestamp(1_767_225_600 + seconds, UTC)) == told_as


def test_completion_knows_commands_options_and_choices() -> None:
    assert [line.split("\t")[0] for line in candidates(["res"])] == ["resume"]
    assert [line.split("\t")[0] for line in candidates(["tasks", "--st"])] == ["--status"]
    assert candidates(["run", "--priority", ""]) == ["high", "normal", "low"]
    assert candidates(["completion", ""]) == ["bash", "zsh", "fish"]
    assert candidates(["nonsense", ""]) == []


def test_findings_are_reported_with_the_way_to_mend_them() -> None:
    plain = Style(colour=False)
    assert render_finding(ok("git", "2.39"), plain) == ["OK       git         2.39"]
    assert render_finding(missing("git", "not found", "Install git."), plain)[1].endswith("→ Install git.")


def test_a_browser_is_opened_only_where_there_is_a_desktop() -> None:
    assert has_desktop({"DISPLAY": ":0"}, "linux")
    assert has_desktop({}, "darwin")
    assert not has_desktop({"SSH_TTY": "/dev/pts/0"}, "linux")


def test_colours_need_a_terminal_and_the_users_consent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert "\x1b" in style_for(environ={"TERM": "xterm"}).red("x")
    assert style_for(environ={"TERM": "xterm", "NO_COLOR": "1"}).red("x") == "x"
    assert style_for(environ={"TERM": "dumb"}).red("x") == "x"


def test_piped_input_is_read_to_its_end_and_a_silent_pipe_is_left() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream, os.fdopen(writing, "wb", buffering=0) as other:
        assert read_piped(stream, first=0.01) == b""
        other.write(b"some context")
        other.close()
        assert read_piped(stream) == b"some context"


def test_piped_input_has_a_limit(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes(PIPED_BYTES + 1))
    with (tmp_path / "large").open("rb") as stream, pytest.raises(CommandFailed, match="nothing was started"):
        read_piped(stream)
