"""`make demo` does what the README shows, and leaves nothing behind."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from tests.e2e.support import PROJECT, clean_environ


def script(name: str) -> ModuleType:
    """A script of the folder `packaging`, which is no package: a library of that name would be found instead."""
    spec = spec_from_file_location(name, PROJECT / "packaging" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


demo, recording = script("demo"), script("recording")


def test_three_tasks_are_carried_out_and_nothing_is_left(tmp_path: Path) -> None:
    environ = {**clean_environ(tmp_path), "TMPDIR": str(tmp_path), "ANTHROPIC_API_KEY": "not-for-the-demo"}
    command = [sys.executable, "packaging/demo.py", "--once"]
    done = subprocess.run(command, cwd=PROJECT, env=environ, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    for task in demo.TASKS:
        assert f'$ brain run "{task}"' in done.stdout
    assert done.stdout.count("✓ Completed in") == len(demo.TASKS)
    assert done.stdout.count("\nVerified\n") == len(demo.TASKS)
    assert "abbreviate: 11 places in 4 files" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("http://127.0.0.1:")
    assert list(tmp_path.glob("rainy-brain-*")) == []


def test_a_recording_is_text_and_pictures_without_a_script() -> None:
    rows = ('\x1b[32m$\x1b[0m \x1b[1mbrain run "x < y & z"\x1b[0m', "\x1b[2mdim over", "two rows\x1b[0m plain")
    drawn = recording.draw_svg([recording.Picture(1.0, rows[:1]), recording.Picture(3.0, rows)])
    root = ElementTree.fromstring(drawn)
    texts = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ['$brain run "x < y & z"', "dim over", "two rows plain"]
    assert 'class="s2">two rows' in drawn
    assert "script" not in drawn
    assert ".f1{animation:k1 9.6s" in drawn


def test_the_recording_that_the_readme_shows_is_one_of_this_demo() -> None:
    shown = recording.TARGET.read_text(encoding="utf-8")
    ElementTree.fromstring(shown)
    for task in demo.TASKS:
        assert f'brain run "{task}"' in shown
    assert recording.END in shown
    assert recording.TARGET.relative_to(PROJECT).as_posix() in (PROJECT / "README.md").read_text(encoding="utf-8")
