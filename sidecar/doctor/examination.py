"""The examination. It changes nothing, and works when nothing else does."""

import os
import platform
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

from sidecar import __version__
from sidecar.config.data_dir import DataDir
from sidecar.config.places import config_file
from sidecar.config.settings import PREFIX, BadSettings, Settings, load
from sidecar.config.trust import Trust
from sidecar.doctor import machine
from sidecar.doctor.findings import MISSING, NOTE, OK, Finding, Mend
from sidecar.doctor.language_models import models
from sidecar.doctor.subject import Subject


def examine(subject: Subject) -> list[Finding]:
    checks: list[Callable[[], Iterable[Finding]]] = [
        lambda: [_program()],
        lambda: [_data_dir(subject.data_dir)],
        lambda: [_sidecar(subject)],
        lambda: [_journal(subject)],
        lambda: _settings(subject),
        lambda: [_workspace(subject)],
        lambda: [machine.git(), machine.ripgrep()],
        lambda: [machine.sandbox(subject), machine.containment(), machine.notices(subject)],
        lambda: models(subject),
    ]
    return [finding for check in checks for finding in check()]


def _program() -> Finding:
    version = platform.python_version()
    found = f"Rainy Brain {__version__} on Python {version} ({sys.executable})"
    return Finding("program", OK, found, essential=True)


def _data_dir(path: Path) -> Finding:
    there = next(place for place in (path, *path.parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        fix = "Make it yours, or name another directory with --data-dir or BRAIN_DATA_DIR."
        return Finding("data", MISSING, f"{path} cannot be written, because of {there}", fix, essential=True)
    if there != path:
        return Finding("data", OK, f"{path}, made at the first start")
    if sys.platform != "win32" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        return Finding("data", NOTE, f"{path} can be read by others", "It is closed at the next start of the sidecar.")
    return Finding("data", OK, str(path))


def _sidecar(subject: Subject) -> Finding:
    running = subject.running
    if running is None:
        return Finding("sidecar", OK, "none is running; `brain` starts one, and `brain run` starts its own")
    counts = ", ".join(f"{count} {name}" for name, count in running.tasks.items() if count) or "no tasks yet"
    return Finding("sidecar", OK, f"running at {running.url} (process {running.pid}): {counts}")


def _journal(subject: Subject) -> Finding:
    path = subject.data_dir / "journal.db"
    aside = sorted(file.name for file in path.parent.glob("journal-damaged-*.db"))
    told = f"; set aside earlier because of damage: {', '.join(aside)}" if aside else ""
    running = subject.running
    if running is not None:
        if running.journal_stalled:
            return Finding("journal", MISSING, running.journal_stalled, "Make room on the disk; it goes on by itself.")
        return Finding("journal", OK, f"{running.journal_bytes / 1e6:.1f} MB, written by the running sidecar{told}")
    if not path.exists():
        return Finding("journal", OK, "none yet")
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=2)) as connection:
            (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        answer = str(error)
    if answer != "ok":
        fix = "The next start sets it aside, keeps what can be read, and says what was lost."
        return Finding("journal", NOTE, f"damaged: {answer}{told}", fix)
    return Finding("journal", OK, f"{path.stat().st_size / 1e6:.1f} MB, sound{told}")


def _settings(subject: Subject) -> Iterable[Finding]:
    file, environ = config_file(), subject.environ
    try:
        settings = load(environ)
    except BadSettings as error:
        yield Finding(
            "settings", MISSING, str(error), "Correct it, or take it out; `README.md` lists them.", essential=True
        )
        return
    where = str(file) if file.exists() else f"no file at {file}; every setting has its default"
    yield Finding("settings", OK, where)
    for name in Settings.model_fields:
        value = getattr(settings, name)
        if environ.get(PREFIX + name.upper()):
            yield Finding("", OK, f"{name} = {value}, from {PREFIX}{name.upper()}")
        elif value != Settings.model_fields[name].default:
            yield Finding("", OK, f"{name} = {value}, from the file")


def _workspace(subject: Subject) -> Finding:
    standing = Trust(DataDir(subject.data_dir)).standing(str(subject.workspace))
    if standing.trusted:
        return Finding("workspace", OK, f"{standing.workspace} is trusted")
    found = f"{standing.workspace} is not trusted, so its own settings are left alone and its own programs ask first"
    fix = f"{standing.why} If you do: `brain trust`."
    return Finding("workspace", NOTE, found, fix, mends=[Mend("trust", standing.workspace)])
