"""Projects from the templates pass their own tests, and their linter is silent."""

import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.offline.scaffold.project import NewProject
from sidecar.offline.scaffold.request import ProjectRequest
from tests.waiting import SECONDS

LONG = "a-name-of-just-thirty-letters"


@pytest.mark.parametrize("name", ["kit", LONG])
@pytest.mark.parametrize("kind", ["python_package", "python_cli", "starlette_api", "static_site"])
def test_what_is_made_passes_its_tests_and_its_linter_is_silent(kind: str, name: str, tmp_path: Path) -> None:
    purpose = "that does a great many things which take more than one line to tell, and are all of them of some use"
    for path, text in NewProject.of(ProjectRequest(kind, name, purpose), ".", "/w").files().items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    tests = ["unittest", "discover"] if kind == "static_site" else ["pytest", "-q", "-p", "no:cacheprovider"]
    for argv in (
        [sys.executable, "-m", *tests],
        ["ruff", "format", "--check", "--no-cache", "."],
        ["ruff", "check", "--no-cache", "."],
    ):
        program = argv[0] if argv[0] == sys.executable else str(Path(sys.executable).parent / argv[0])
        done = subprocess.run([program, *argv[1:]], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == 0, f"{argv}\n{done.stdout}{done.stderr}"
