"""The packaged extension in real VS Code (code-server), through Chromium. `make editors` installs what it needs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.conftest import CHROMIUM
from tests.e2e.support import PROJECT

HERE = Path(__file__).parent / "vscode"
EXTENSION = PROJECT / "frontend" / "vscode"
SERVER = Path(os.environ.get("BRAIN_CODE_SERVER") or PROJECT / ".venv" / "code-server")
SHORT = ("first_task",)
FULL = os.environ.get("BRAIN_EDITORS") == "full"
STORIES = sorted(story.stem for story in (HERE / "stories").glob("*.mjs"))


@pytest.fixture(scope="session")
def extension() -> None:
    """The extension, packaged from these sources."""
    if not (SERVER / "installed").exists() or not (EXTENSION / "node_modules").is_dir():
        pytest.skip("code-server or the extension's packages aren't installed: run `make editors` once")
    if shutil.which("node") is None or not any(path and Path(path).exists() for path in CHROMIUM):
        pytest.skip("Node.js or Chromium is missing")
    command = ["npm", "run", "--silent", "package"]
    built = subprocess.run(command, cwd=EXTENSION, capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stdout + built.stderr


@pytest.mark.timeout(900)
@pytest.mark.parametrize("story", STORIES)
def test_story(story: str, extension: None, tmp_path: Path) -> None:
    if not FULL and story not in SHORT:
        pytest.skip("only in `make editors`")
    environ = {**os.environ, "BRAIN_PYTHON": sys.executable, "BRAIN_PICTURES": str(tmp_path)}
    command = ["node", str(HERE / "run.mjs"), story]
    done = subprocess.run(command, cwd=PROJECT, env=environ, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and f"passed: {story}" in done.stdout, done.stdout + done.stderr


def test_the_package_carries_what_it_needs_and_nothing_else(extension: None) -> None:
    import zipfile

    with zipfile.ZipFile(EXTENSION / "dist" / "rainy-brain.vsix") as package:
        names = set(package.namelist())
    inside = {name.removeprefix("extension/") for name in names if name.startswith("extension/")}
    assert {"package.json", "dist/extension.js", "dist/panel/index.html", "media/icon.svg"} <= inside
    assert not [name for name in inside if name.startswith(("src/", "node_modules/", "webview/")) or ".map" in name]
