"""`brain desktop`: the panel in a window that is a shell on the bridge too.

What opens windows is another's package and needs a screen. Most of these tests put a stand-in in its place that does
what a window would: it opens the address, looks at what it gets, and closes. The last one takes the real package, drawn
on a screen of its own, where it is installed.
"""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from sidecar.client.sidecars import find_sidecar
from sidecar.config.paths import READY_FILE
from tests.e2e.support import PROJECT, SECONDS
from tests.e2e.terminal import BRAIN, brain
from tests.waiting import wait_until

built = pytest.mark.skipif(
    not (PROJECT / "frontend" / "dist" / "index.html").exists(), reason="the panel is not built: make panel"
)

WINDOW = """
import glob, json, os, re, threading, urllib.request

from tests.waiting import wait_until

class WebViewException(Exception):
    pass

class Window:
    def __init__(self, title, url, **options):
        self.title, self.url, self.closed = title, url, threading.Event()
    def destroy(self):
        self.closed.set()

def create_window(*args, **options):
    global window
    window = Window(*args, **options)
    return window

def call(path, body=None, token=None):
    origin = window.url.split("/#")[0]
    headers = {"Content-Type": "application/json"} if body is not None else {}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    return json.load(urllib.request.urlopen(urllib.request.Request(origin + path, data, headers), timeout=60))

def start(then, given, **options):
    threading.Thread(target=then, args=given, daemon=True).start()
    code = re.search("code=(.+)", window.url)[1]
    lines = [open(file, "rb").read() for file in glob.glob("/proc/[0-9]*/cmdline") if os.path.exists(file)]
    token = call("/api/brain/session", {"code": code})["token"]
    wait_until(lambda: call("/api/brain/status", token=token)["shells"])
    shells = call("/api/brain/status", token=token)["shells"]
    run = {"calls": [{"tool": "read_file", "args": {"path": "notes.txt"}}]}
    results = call("/api/brain/tools/batch", run, token)["results"]
    told = {"title": window.title, "shells": shells, "results": results, "options": options, "pid": os.getpid()}
    told["shown"] = any(code.encode() in line for line in lines)
    with open(os.environ["SEEN"] + ".part", "w") as file:
        json.dump(told, file)
    os.rename(os.environ["SEEN"] + ".part", os.environ["SEEN"])
    if os.environ.get("STAYS"):
        assert window.closed.wait(60)
"""


@pytest.fixture
def environ(tmp_path: Path, home: dict[str, str]) -> dict[str, str]:
    (tmp_path / "window").mkdir()
    (tmp_path / "window" / "webview.py").write_text(WINDOW)
    return {**home, "DISPLAY": ":0", "SEEN": str(tmp_path / "seen.json")}


def desktop(
    environ: Mapping[str, str], tmp_path: Path, workspace: Path, packages: Path | None = None
) -> subprocess.Popen[str]:
    path = os.pathsep.join((str(packages or tmp_path / "window"), str(PROJECT)))
    command = [*BRAIN, "desktop", "--workspace", str(workspace), "--port", "0"]
    return subprocess.Popen(
        command, env={**environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@built
def test_the_window_shows_the_panel_and_is_a_shell_and_takes_its_sidecar_down(
    environ: dict[str, str], tmp_path: Path, workspace: Path
) -> None:
    process = desktop(environ, tmp_path, workspace)
    _, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, errors
    seen = json.loads(Path(environ["SEEN"]).read_text())
    assert seen["title"] == "Rainy Brain"
    (shell,) = seen["shells"]
    assert (shell["name"], shell["workspace"]) == ("brain desktop", str(workspace.resolve()))
    (result,) = seen["results"]
    assert result["executor"] == "shell"
    assert "water the plants" in result["content"]
    assert seen["options"]["private_mode"] is False
    assert not seen["shown"], "the code stands in no command line"
    assert not (tmp_path / "data" / READY_FILE).exists(), "its own sidecar has ended"


@built
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_told_to_stop_it_closes_the_window_and_ends_in_order(
    environ: dict[str, str], tmp_path: Path, workspace: Path, number: int
) -> None:
    process = desktop({**environ, "STAYS": "1"}, tmp_path, workspace)
    wait_until(Path(environ["SEEN"]).exists, what="the window")
    process.send_signal(number)
    _, errors = process.communicate(timeout=SECONDS + 10)
    assert process.returncode == 0, errors
    assert "unfinished tasks resume" in errors
    assert not (tmp_path / "data" / READY_FILE).exists()


def test_without_the_package_it_says_what_to_install_and_what_works_without_it(
    environ: dict[str, str], tmp_path: Path, workspace: Path
) -> None:
    (tmp_path / "window" / "webview.py").write_text("raise ImportError('no module')\n")
    process = desktop(environ, tmp_path, workspace)
    _, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 1
    assert "pip install 'rainy-brain[desktop]'" in errors
    assert not (tmp_path / "data").exists(), "nothing was started"


def test_without_a_desktop_it_says_so(home: dict[str, str], workspace: Path) -> None:
    nowhere = {name: value for name, value in home.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}
    done = brain("desktop", environ=nowhere, cwd=workspace)
    assert done.returncode == 1
    assert "No desktop" in done.stderr


@built
@pytest.mark.skipif(
    find_spec("webview") is None or find_spec("PyQt6") is None, reason="pywebview with Qt is not installed"
)
def test_a_real_window_comes_up_and_goes(environ: dict[str, str], tmp_path: Path, workspace: Path) -> None:
    drawn = {**environ, "QT_QPA_PLATFORM": "offscreen", "QTWEBENGINE_DISABLE_SANDBOX": "1"}
    packages = Path(str(find_spec("webview").origin)).parents[1]  # type: ignore[union-attr]
    process = desktop(drawn, tmp_path, workspace, packages)
    ready = tmp_path / "data" / READY_FILE
    wait_until(ready.exists, what="the sidecar")

    def traded() -> bool:
        client = find_sidecar(tmp_path / "data")
        # The panel follows nothing yet, but a shell is there and the page has asked for its code to be traded.
        return client is not None and bool(client.get("/api/brain/status")["shells"]) and _renewed(tmp_path / "data")

    wait_until(traded, what="the panel in the window")
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, errors


def _renewed(data: Path) -> bool:
    file = data / "renewals.json"
    return file.exists() and bool(json.loads(file.read_text()))


@built
@pytest.mark.skipif(
    find_spec("webview") is None
    or find_spec("PyQt6") is None
    or not all(map(shutil.which, ("Xvfb", "trayer", "xdotool", "xwininfo"))),
    reason="pywebview with Qt, Xvfb, trayer, xdotool or xwininfo is not installed",
)
def test_a_real_tray_shows_the_icon_and_its_menu_quits(
    environ: dict[str, str], tmp_path: Path, workspace: Path
) -> None:
    packages = Path(str(find_spec("webview").origin)).parents[1]  # type: ignore[union-attr]
    with screen() as display:
        drawn = {**environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "QTWEBENGINE_DISABLE_SANDBOX": "1"}
        tray = subprocess.Popen(["trayer", "--widthtype", "request"], env=drawn, stderr=subprocess.DEVNULL)
        process = desktop(drawn, tmp_path, workspace, packages)
        try:
            wait_until(lambda: icon(drawn) is not None, what="the icon")
            x, y = icon(drawn) or (0, 0)
            before = windows(drawn)
            move = ["xdotool", "mousemove", str(x + 10), str(y + 10)]
            subprocess.run([*move, "click", "3"], env=drawn, check=True)
            wait_until(lambda: len(windows(drawn)) > len(before), what="the menu")
            # Upwards from the top comes the last entry.
            subprocess.run(["xdotool", "key", "Up", "Return"], env=drawn, check=True)
            _, errors = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
            tray.kill()
            tray.wait()
        assert process.returncode == 0, errors
        assert "No tray icon" not in errors


@contextmanager
def screen() -> Iterator[str]:
    number, theirs = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(theirs), "-screen", "0", "1280x900x24"],
        pass_fds=[theirs],
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    try:
        with os.fdopen(number) as shown:
            yield f":{shown.readline().strip()}"
    finally:
        server.kill()
        server.wait()


def windows(environ: Mapping[str, str]) -> str:
    listed = subprocess.run(["xwininfo", "-root", "-tree"], env=dict(environ), capture_output=True, text=True)
    return listed.stdout


def icon(environ: Mapping[str, str]) -> tuple[int, int] | None:
    """Where the tray has it: the only window of ours inside the panel of trayer."""
    found = re.search(r'"panel".*?\n(?:.*\n)*? {11}\S+ .*?\+(\d+)\+(\d+)\n', windows(environ))
    return (int(found[1]), int(found[2])) if found else None
