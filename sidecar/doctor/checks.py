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
from sidecar.config.paths import config_file
from sidecar.config.settings import PREFIX, Settings, SettingsError, load
from sidecar.config.trust import Trust
from sidecar.doctor import machine
from sidecar.doctor.language_models import models
from sidecar.doctor.report import MISSING, NOTE, OK, CheckResult, DoctorContext, Mend


def run_checks(subject: DoctorContext) -> list[CheckResult]:
    checks: list[Callable[[], Iterable[CheckResult]]] = [
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


def _program() -> CheckResult:
    version = platform.python_version()
    found = f"Rainy Brain {__version__} on Python {version} ({sys.executable})"
    return CheckResult("program", OK, found, essential=True)


def _data_dir(path: Path) -> CheckResult:
    there = next(place for place in (path, *path.parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        fix = "Make it yours, or name another directory with --data-dir or BRAIN_DATA_DIR."
        return CheckResult("data", MISSING, f"{path} cannot be written, because of {there}", fix, essential=True)
    if there != path:
        return CheckResult("data", OK, f"{path}, made at the first start")
    if sys.platform != "win32" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        return CheckResult(
            "data", NOTE, f"{path} can be read by others", "It is closed at the next start of the sidecar."
        )
    return CheckResult("data", OK, str(path))


def _sidecar(subject: DoctorContext) -> CheckResult:
    running = subject.running
    if running is None:
        return CheckResult("sidecar", OK, "none is running; `brain` starts one, and `brain run` starts its own")
    counts = ", ".join(f"{count} {name}" for name, count in running.tasks.items() if count) or "no tasks yet"
    return CheckResult("sidecar", OK, f"running at {running.url} (process {running.pid}): {counts}")


def _journal(subject: DoctorContext) -> CheckResult:
    path = subject.data_dir / "journal.db"
    aside = sorted(file.name for file in path.parent.glob("journal-damaged-*.db"))
    told = f"; set aside earlier because of damage: {', '.join(aside)}" if aside else ""
    running = subject.running
    if running is not None:
        if running.journal_stalled:
            return CheckResult(
                "journal", MISSING, running.journal_stalled, "Make room on the disk; it goes on by itself."
            )
        return CheckResult("journal", OK, f"{running.journal_bytes / 1e6:.1f} MB, written by the running sidecar{told}")
    if not path.exists():
        return CheckResult("journal", OK, "none yet")
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=2)) as connection:
            (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        answer = str(error)
    if answer != "ok":
        fix = "The next start sets it aside, keeps what can be read, and says what was lost."
        return CheckResult("journal", NOTE, f"damaged: {answer}{told}", fix)
    return CheckResult("journal", OK, f"{path.stat().st_size / 1e6:.1f} MB, sound{told}")


def _settings(subject: DoctorContext) -> Iterable[CheckResult]:
    file, environ = config_file(), subject.environ
    try:
        settings = load(environ)
    except SettingsError as error:
        yield CheckResult(
            "settings", MISSING, str(error), "Correct it, or take it out; `README.md` lists them.", essential=True
        )
        return
    where = str(file) if file.exists() else f"no file at {file}; every setting has its default"
    yield CheckResult("settings", OK, where)
    for name in Settings.model_fields:
        value = getattr(settings, name)
        if environ.get(PREFIX + name.upper()):
            yield CheckResult("", OK, f"{name} = {value}, from {PREFIX}{name.upper()}")
        elif value != Settings.model_fields[name].default:
            yield CheckResult("", OK, f"{name} = {value}, from the file")


def _workspace(subject: DoctorContext) -> CheckResult:
    standing = Trust(DataDir(subject.data_dir)).status(str(subject.workspace))
    if standing.trusted:
        return CheckResult("workspace", OK, f"{standing.workspace} is trusted")
    found = f"{standing.workspace} is not trusted, so its own settings are left alone and its own programs ask first"
    fix = f"{standing.why} If you do: `brain trust`."
    return CheckResult("workspace", NOTE, found, fix, mends=[Mend("trust", standing.workspace)])
