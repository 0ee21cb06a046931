"""The documentation is under test: everything that there is has its heading, and what the README shows runs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from sidecar.api.routes import TABLE
from sidecar.commands import COMMANDS
from sidecar.config.settings import PREFIX, Settings
from sidecar.wire.events import AnyEvent

PROJECT = Path(__file__).resolve().parents[2]
README = (PROJECT / "README.md").read_text(encoding="utf-8")
HEADINGS = set(re.findall(r"^#{2,4} `([^`]+)`$", README, re.MULTILINE))
EXAMPLES = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
EVENTS = [get_args(kind.model_fields["type"].annotation)[0] for kind in get_args(get_args(AnyEvent)[0])]
FOLDER_READMES = [path for room in ("sidecar", "tools", "bridge") for path in (PROJECT / room).rglob("README.md")]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_heading(name: str) -> None:
    assert f"brain {name}" in HEADINGS


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_has_its_heading_and_says_what_it_is(name: str) -> None:
    assert name in HEADINGS
    assert Settings.model_fields[name].description


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_has_its_heading(name: str) -> None:
    assert name in HEADINGS


@pytest.mark.parametrize("route", [f"{item.method} {item.path}" for item in TABLE])
def test_every_route_has_its_heading(route: str) -> None:
    assert route in HEADINGS


def test_nothing_is_documented_that_is_not_there() -> None:
    there = {f"brain {name}" for name in COMMANDS} | {"brain"} | set(Settings.model_fields) | set(EVENTS)
    assert there | {f"{item.method} {item.path}" for item in TABLE} >= HEADINGS


def test_the_first_screen_says_what_it_is_shows_it_and_how_to_start() -> None:
    first = "\n".join(README.splitlines()[:20])
    for said in ("make run", "make test", "make demo", "](packaging/demo.svg)"):
        assert said in first


def test_every_room_is_in_the_table_of_what_is_where() -> None:
    table = README[README.index("## What is where") : README.index("## Commands")]
    rooms = [f"sidecar/{path.name}/" for path in (PROJECT / "sidecar").iterdir() if (path / "__init__.py").is_file()]
    for folder in (*rooms, "tools/", "bridge/", "frontend/", "packaging/", "tests/"):
        assert f"`{folder}`" in table, folder


@pytest.mark.parametrize("file", FOLDER_READMES, ids=lambda file: str(file.relative_to(PROJECT)))
def test_the_readme_of_a_folder_fits_on_a_screen(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 20


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
        subprocess.run(["git", *words], cwd=project, env=environ, check=True, timeout=30)
    return project, environ


@pytest.mark.skipif(shutil.which("bash") is None, reason="the examples are for a POSIX shell")
def test_what_the_readme_shows_runs(place: tuple[Path, dict[str, str]]) -> None:
    assert len(EXAMPLES) >= 8
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
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, f"{example}\n{done.stdout}\n{done.stderr}"
