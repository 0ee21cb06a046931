"""The shell examples of README.md run as they are."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.config.settings import PREFIX
from tests.e2e.support import PROJECT
from tests.waiting import SECONDS

README = (PROJECT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A small project under git, and an environment in which `brain` is a command."""
    root = tmp_path_factory.mktemp("readme")
    project = root / "project"
    project.mkdir()
    (project / "greeting.py").write_text("def greet() -> str:\n    return 'hello'  # TODO: more words\n")
    (project / "test_greeting.py").write_text("from greeting import greet\n\n\ndef test_greet():\n    assert greet()\n")
    programs = root / "bin"
    programs.mkdir()
    brain = programs / "brain"
    brain.write_text(f'#!/bin/sh\nPYTHONPATH={PROJECT} exec {sys.executable} -m sidecar "$@"\n')
    brain.chmod(0o755)
    environ = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    environ |= {"HOME": str(root), "XDG_CONFIG_HOME": str(root / "config"), "XDG_DATA_HOME": str(root / "share")}
    environ |= {"PATH": os.pathsep.join((str(programs), str(Path(sys.executable).parent), os.environ["PATH"]))}
    environ |= {
        "GIT_AUTHOR_NAME": "x",
        "GIT_AUTHOR_EMAIL": "x@x",
        "GIT_COMMITTER_NAME": "x",
        "GIT_COMMITTER_EMAIL": "x@x",
    }
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=project, env=environ, check=True, timeout=SECONDS)
    return project, environ


@pytest.mark.skipif(shutil.which("bash") is None, reason="the examples are for a POSIX shell")
def test_the_examples_of_the_readme_run(place: tuple[Path, dict[str, str]]) -> None:
    assert len(EXAMPLES) >= 5
    project, environ = place
    for example in EXAMPLES:
        if "curl" in example and shutil.which("curl") is None:
            continue
        done = subprocess.run(
            ["bash", "-eu", "-o", "pipefail", "-c", example],
            cwd=project,
            env=environ,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{example}\n{done.stdout}\n{done.stderr}"
