import pytest

from sidecar.telemetry.notifier import find_notifier


def found(*names: str) -> dict[str, str]:
    return {name: f"/bin/{name}" for name in names}


@pytest.mark.parametrize(
    ("system", "environ", "programs", "description"),
    [
        ("Linux", {"DISPLAY": ":0"}, found("notify-send"), "notify-send"),
        ("Linux", {"WAYLAND_DISPLAY": "wayland-0"}, found("notify-send"), "notify-send"),
        ("Linux", {}, found("notify-send"), None),
        ("Linux", {"DISPLAY": ":0"}, {}, None),
        ("Darwin", {}, found("osascript"), "osascript"),
        ("Windows", {}, found("powershell"), "powershell"),
        ("Plan9", {"DISPLAY": ":0"}, found("notify-send"), None),
    ],
)
def test_the_desktop_that_is_there_is_used(
    system: str, environ: dict[str, str], programs: dict[str, str], description: str | None
) -> None:
    chosen = find_notifier("desktop", environ, programs.get, system)
    assert description in chosen.description if description and chosen else chosen is None and description is None
    assert find_notifier("off", environ, programs.get, system) is None
