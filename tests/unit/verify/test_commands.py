from pathlib import Path

import pytest

from sidecar.verify.commands import COMMANDS_FILE, load_commands


def test_a_workspace_names_its_own_checks(tmp_path: Path) -> None:
    assert load_commands(str(tmp_path)) is None
    (tmp_path / ".brain").mkdir()
    (tmp_path / COMMANDS_FILE).write_text('commands = ["make check", "npm run lint"]\n')
    assert load_commands(str(tmp_path)) == ["make check", "npm run lint"]


@pytest.mark.parametrize(
    "text", ["commands = 'make'", "commands = [1]", "commands = [", "other = 1", "commands = ['']"]
)
def test_a_file_that_cannot_be_used_is_left_out(tmp_path: Path, text: str) -> None:
    (tmp_path / ".brain").mkdir()
    (tmp_path / COMMANDS_FILE).write_text(text)
    assert load_commands(str(tmp_path)) is None


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / ".brain").mkdir()
    (tmp_path / "elsewhere.toml").write_text('commands = ["true"]\n')
    (tmp_path / COMMANDS_FILE).symlink_to(tmp_path / "elsewhere.toml")
    assert load_commands(str(tmp_path)) is None


def test_what_is_no_file_names_nothing(tmp_path: Path) -> None:
    (tmp_path / COMMANDS_FILE).mkdir(parents=True)
    assert load_commands(str(tmp_path)) is None
