"""Desktop notifications, shown by a program."""

import os
from pathlib import Path

import pytest

from sidecar.telemetry import notifier
from sidecar.telemetry.notifier import DesktopNotifier


async def test_a_notice_is_given_as_arguments_without_keys_and_without_control_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    program = tmp_path / "show"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/said\nenv > {tmp_path}/environment\n')
    program.chmod(0o755)
    desktop = DesktopNotifier([str(program), "--"], "a desktop")
    await desktop.notify("A task\nneeds you", "--evil $(touch x) \x1b[31mred")
    assert (tmp_path / "said").read_text().splitlines() == ["--", "A task needs you", "--evil $(touch x) [31mred"]
    assert "secret" not in (tmp_path / "environment").read_text()


async def test_a_desktop_that_does_not_answer_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifier, "SECONDS", 0.3)
    program = tmp_path / "hang"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    program.chmod(0o755)
    await DesktopNotifier([str(program)], "a desktop").notify("A task needs you", "x")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_a_program_that_is_not_there_is_no_trouble(tmp_path: Path) -> None:
    await DesktopNotifier([str(tmp_path / "nothing")], "a desktop").notify("A task needs you", "x")


async def test_a_click_is_reported_and_an_older_program_still_shows_the_notice(tmp_path: Path) -> None:
    program = tmp_path / "notify"
    program.write_text(f"""#!/bin/sh
case "$1" in --action*) test -e {tmp_path}/new || exit 1; echo default; exit 0;; esac
echo "$@" > {tmp_path}/said
""")
    program.chmod(0o755)
    desktop = DesktopNotifier([str(program)], "a desktop", with_click=[str(program), "--action=default=Open"])
    assert not await desktop.notify("A task failed", "x")
    assert (tmp_path / "said").read_text() == "A task failed x\n"
    (tmp_path / "new").touch()
    assert await desktop.notify("A task failed", "x")
