"""The tray icon's state, and what is said where there is none."""

import pytest

from sidecar.commands.tray import TrayMenu, TrayState, open_tray


@pytest.mark.parametrize(
    ("tasks", "kind", "text"),
    [
        ({}, "idle", "No task is running"),
        ({"completed": 3, "failed": 1}, "idle", "No task is running"),
        ({"running": 1, "queued": 1}, "running", "2 tasks running"),
        ({"running": 2, "waiting": 1}, "needs you", "1 task needs you"),
        ({"waiting": 2}, "needs you", "2 tasks need you"),
    ],
)
def test_the_icon_says_first_that_a_task_needs_you(tasks: dict[str, int], kind: str, text: str) -> None:
    assert TrayState.of(tasks) == (kind, text)


def test_without_a_window_of_qt_there_is_no_tray_and_the_reason_says_so() -> None:
    tray, why = open_tray(TrayMenu(bool, bool, bool), "Rainy Brain")
    assert tray is None
    assert "doesn't use Qt" in why
