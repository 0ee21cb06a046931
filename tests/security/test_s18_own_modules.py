"""S18: modules in the directory that you call `brain` in are not loaded in the place of ours."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.support import clean_environ
from tests.waiting import SECONDS

#: Our own packages, one of a library, and one that is looked for but not always installed.
NAMES = (
    "sidecar/__main__.py",
    "sidecar/__init__.py",
    "tools.py",
    "starlette.py",
    "wordllama.py",
    "uvicorn/__init__.py",
)


@pytest.mark.parametrize("words", [["search", "x"], ["run", "run `git status`", "--approvals", "readonly"]])
def test_s18_a_repository_cannot_replace_our_modules(tmp_path: Path, words: list[str]) -> None:
    program = Path(sys.executable).with_name("brain")
    if not program.exists():
        pytest.skip("the command is not installed")
    place, ran = tmp_path / "workspace", tmp_path / "ran"
    for name in NAMES:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(f"open({str(ran)!r}, 'a').write(__name__)\n")
    environ = {name: value for name, value in clean_environ(tmp_path).items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(program), *words, "--data-dir", str(tmp_path / "data")],
        cwd=place,
        env={**environ, "BRAIN_MEMORY_VECTORS": "true"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        stdin=subprocess.DEVNULL,
    )
    assert not ran.exists(), ran.read_text()
    assert "didn't start" not in done.stderr, done.stderr
    assert (tmp_path / "data/sidecar.log").exists()
