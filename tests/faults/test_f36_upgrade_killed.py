"""F36: an upgrade that is killed at any moment leaves the old or the new version, never neither."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from sidecar import __version__
from tests.e2e.support import running_sidecar
from tests.faults.scale import scaled
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
NEW = "99.0.0"
SOURCES = ("sidecar", "bridge", "tools")
KILLS = scaled(3, 40)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """This version and a newer one."""
    source = tmp_path_factory.mktemp("source")
    for name in (*SOURCES, "packaging"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "router"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(source / "dist")]
    subprocess.run(build, cwd=source, check=True)
    (built,) = (source / "dist").glob("*.whl")
    return {__version__: built, NEW: renumbered(built)}


def renumbered(wheel: Path) -> Path:
    """The same wheel as the newer version, without building it again."""
    made = wheel.with_name(wheel.name.replace(__version__, NEW))
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "sidecar/__init__.py" or ".dist-info/" in name:
                content = content.replace(__version__.encode(), NEW.encode())
            new.writestr(name.replace(f"-{__version__}.dist-info", f"-{NEW}.dist-info"), content)
    return made


@pytest.fixture(scope="module")
def pristine(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with this version; the packages below it are those of the tests."""
    place = tmp_path_factory.mktemp("installed") / "brain"
    venv.create(place)
    own = Path(sysconfig.get_path("purelib", vars={"base": str(place), "platbase": str(place)}))
    (own / "packages.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    install = [str(place / "bin" / "python"), "-m", "pip", "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*install, "--ignore-installed", str(wheels[__version__])], check=True)
    return place


@pytest.fixture
def installed(pristine: Path, tmp_path: Path) -> Path:
    """A copy of it, whose scripts name the copy's interpreter."""
    place = tmp_path / "tools" / "brain"
    shutil.copytree(pristine, place, symlinks=True)
    for script in (place / "bin").glob("*brain"):
        script.write_text(script.read_text().replace(str(pristine), str(place)))
    return place


def version_of(place: Path) -> str:
    shown = subprocess.run([place / "bin" / "brain", "--version"], capture_output=True, text=True, check=True)
    return shown.stdout.split()[-1]


def status_of(place: Path, data_dir: Path, task: str) -> str:
    listed = subprocess.run(
        [place / "bin" / "brain", "tasks", "--json", "--data-dir", data_dir], capture_output=True, text=True, check=True
    )
    (found,) = (each for each in map(json.loads, listed.stdout.splitlines()) if each["id"] == task)
    return str(found["status"])


def start_upgrade(place: Path, wheel: Path, data_dir: Path) -> "subprocess.Popen[str]":
    command = [str(place / "bin" / "brain"), "upgrade", "--from", str(wheel), "--data-dir", str(data_dir)]
    # The new version compiles what it imports when it is tried, which is a quarter of what pip would compile.
    environ = {**os.environ, "PIP_NO_INDEX": "1", "PIP_NO_COMPILE": "1"}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environ, start_new_session=True
    )


def test_an_upgrade_replaces_the_version_and_a_running_task_goes_on(
    installed: Path, wheels: dict[str, Path], tmp_path: Path
) -> None:
    with running_sidecar(tmp_path) as sidecar:
        script = sidecar.script(
            "wait", [{"calls": [{"tool": "run_command", "args": {"command": "true"}}]}, {"text": "done"}]
        )
        task = sidecar.execute("wait", models=script, intent="run_command")
        sidecar.wait_for_status(task, "waiting")
        upgrade = start_upgrade(installed, wheels[NEW], tmp_path / "data")
        output, _ = upgrade.communicate(timeout=120)
        assert upgrade.returncode == 0, output
        assert version_of(installed) == NEW
        assert not list(installed.parent.glob(".brain.upgrade"))
    wait_until(lambda: status_of(installed, tmp_path / "data", task) == "waiting")
    subprocess.run([installed / "bin" / "brain", "stop", "--data-dir", tmp_path / "data"], check=True)


def test_an_upgrade_killed_at_any_moment_leaves_the_old_or_the_new_version(
    installed: Path, wheels: dict[str, Path], tmp_path: Path
) -> None:
    chance = random.Random(36)
    seen = set()
    for _ in range(KILLS):
        upgrade = start_upgrade(installed, wheels[NEW], tmp_path / "data")
        try:
            upgrade.wait(chance.uniform(0.1, 6))
        except subprocess.TimeoutExpired:
            os.killpg(upgrade.pid, signal.SIGKILL)
        upgrade.communicate()
        seen.add(version_of(installed))
    assert seen <= {__version__, NEW}
    upgrade = start_upgrade(installed, wheels[NEW], tmp_path / "data")
    output, _ = upgrade.communicate(timeout=120)
    assert upgrade.returncode == 0, output
    assert version_of(installed) == NEW
    assert not list(installed.parent.glob(".brain.upgrade"))


def test_a_version_that_does_not_start_is_not_installed(installed: Path, tmp_path: Path) -> None:
    broken = tmp_path / "rainy_brain-99.0.1-py3-none-any.whl"
    broken.write_bytes(b"not a wheel")
    upgrade = start_upgrade(installed, broken, tmp_path / "data")
    output, _ = upgrade.communicate(timeout=120)
    assert upgrade.returncode == 1
    assert "Nothing was changed" in output
    assert version_of(installed) == __version__
