"""The checks of `brain doctor`. They change nothing, and work when nothing else does."""

import asyncio
import os
import platform
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

from sidecar import __version__
from sidecar.config.data_dir import DataDir
from sidecar.config.keys import Keys
from sidecar.config.paths import config_file, is_disk_full
from sidecar.config.settings import PREFIX, Settings, SettingsError, load
from sidecar.config.trust import Trust
from sidecar.config.weights import VectorsUnavailable, find_weights
from sidecar.doctor.models import check_models
from sidecar.doctor.report import DoctorContext, missing, note, ok
from sidecar.wire.system import FindingInfo, Remedy
from sidecar.wire.text import plural
from tools.mcp.configuration import Configuration
from tools.sandboxes.pool import open_remote
from tools.sandboxes.port import FILE, SandboxError, load_spec

_INSTALLERS = {
    "apt-get": "sudo apt-get install",
    "dnf": "sudo dnf install",
    "pacman": "sudo pacman -S",
    "zypper": "sudo zypper install",
    "apk": "sudo apk add",
    "brew": "brew install",
    "winget": "winget install",
}


def run_checks(context: DoctorContext) -> list[FindingInfo]:
    version = f"Rainy Brain {__version__} on Python {platform.python_version()} ({sys.executable})"
    try:
        settings: Settings | None = load(context.environ)
        broken = ""
    except SettingsError as error:
        settings, broken = None, str(error)
    findings = [
        ok("program", version, essential=True),
        _check_data_dir(context.data_dir),
        _check_sidecar(context),
        _check_journal(context),
        *_check_settings(context, settings, broken),
        _check_workspace(context),
        _check_git(),
        _check_ripgrep(),
        check_sandbox(context, settings or Settings()),
        _check_processes(),
        _check_notifications(context, settings or Settings()),
        _check_tray(),
        _check_vectors(settings or Settings()),
        *_check_mcp(context),
        *_check_own_tools(context),
        *check_doors(context),
    ]
    return findings if settings is None else [*findings, *check_models(context, settings)]


def _check_data_dir(path: Path) -> FindingInfo:
    nearest = next(place for place in (path, *path.parents) if place.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        fix = "Make it writable, or choose another directory with --data-dir or BRAIN_DATA_DIR."
        return missing("data", f"can't write {path} because of {nearest}", fix, essential=True)
    if is_disk_full(nearest):
        fix = "Free some space there, or choose another directory with --data-dir or BRAIN_DATA_DIR."
        return missing("data", f"the disk of {path} is full: tasks can't be recorded", fix, essential=True)
    if nearest != path:
        return ok("data", f"{path}, created at the first start")
    if sys.platform != "win32" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        return note("data", f"other users can read {path}", "The next start of the sidecar makes it private.")
    return ok("data", str(path))


def _check_sidecar(context: DoctorContext) -> FindingInfo:
    running = context.running
    if running is None:
        return ok("sidecar", "not running; `brain` starts one, and `brain run` starts its own")
    counts = ", ".join(f"{count} {name}" for name, count in running.tasks.items() if count) or "no tasks yet"
    return ok("sidecar", f"running at {running.url} (process {running.pid}): {counts}")


def _check_journal(context: DoctorContext) -> FindingInfo:
    path = context.data_dir / "journal.db"
    damaged = sorted(file.name for file in path.parent.glob("journal-damaged-*.db"))
    earlier = f"; damaged earlier and set aside: {', '.join(damaged)}" if damaged else ""
    running = context.running
    if running is not None:
        if running.journal_stalled:
            return missing("journal", running.journal_stalled, "Free some disk space; work then continues by itself.")
        return ok("journal", f"{running.journal_bytes / 1e6:.1f} MB, in use by the running sidecar{earlier}")
    if not path.exists():
        return ok("journal", "none yet")
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=2)) as connection:
            (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        answer = str(error)
    if answer != "ok":
        fix = "The next start sets it aside, keeps all readable tasks, and reports the losses."
        return note("journal", f"damaged: {answer}{earlier}", fix)
    return ok("journal", f"{path.stat().st_size / 1e6:.1f} MB, intact{earlier}")


def _check_settings(context: DoctorContext, settings: Settings | None, broken: str) -> Iterator[FindingInfo]:
    if settings is None:
        yield missing("settings", broken, "Correct or remove it; `README.md` lists all settings.", essential=True)
        return
    file = config_file()
    yield ok("settings", str(file) if file.exists() else f"no file at {file}; all settings have their defaults")
    for name, field in Settings.model_fields.items():
        value = getattr(settings, name)
        if context.environ.get(PREFIX + name.upper()):
            yield ok("", f"{name} = {value}, from {PREFIX}{name.upper()}")
        elif value != field.default:
            yield ok("", f"{name} = {value}, from the file")


def _check_workspace(context: DoctorContext) -> FindingInfo:
    status = Trust(DataDir(context.data_dir)).status(str(context.workspace))
    if status.trusted:
        return ok("workspace", f"you trust {status.workspace}")
    if status.change is not None:
        found = f"what the tests and builds of {status.workspace} run has changed, so they need your approval"
        return note("workspace", found, f"{status.why} To trust it: `brain trust`, which shows the difference.")
    found = f"{status.workspace} is untrusted: its settings are ignored, and its programs need your approval"
    fix = f"{status.why} To trust it: `brain trust`."
    return note("workspace", found, fix, [Remedy(kind="trust", value=status.workspace)])


def check_doors(context: DoctorContext) -> Iterator[FindingInfo]:
    path = context.data_dir / "doors.db"
    if not path.exists():
        return
    count = "SELECT (SELECT count(*) FROM deliveries WHERE state = ?), (SELECT count(*) FROM outbox WHERE state = ?)"
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=2)) as connection:
            dead, unsent = connection.execute(count, ("dead", "dead")).fetchone()
    except sqlite3.Error as error:
        yield note("doors", f"{path} can't be read: {error}", "Stop `brain doors`, move the file away, start it again.")
        return
    if dead or unsent:
        lost = [plural(dead, "delivery", "deliveries")] * bool(dead) + [plural(unsent, "message")] * bool(unsent)
        found = f"given up, but kept: {' and '.join(lost)}"
        yield note("doors", found, "`brain doors list` says why, `brain doors retry` tries them again.")
    else:
        yield ok("doors", "all deliveries are handled, and all messages are sent or on their way")


def _check_git() -> FindingInfo:
    from tools.local.repository.git import git_version

    fix = "Install git; the git tools fail without it."
    if shutil.which("git") is None:
        return missing("git", "not found", fix, _installing("git"))
    try:
        return ok("git", git_version())
    except (OSError, subprocess.SubprocessError) as error:
        return missing("git", f"doesn't run: {error}", fix)


def _check_ripgrep() -> FindingInfo:
    from tools.errors import ToolError
    from tools.ripgrep import ripgrep

    try:
        return ok("ripgrep", ripgrep())
    except ToolError as error:
        return missing("ripgrep", "not found, so searches fail", str(error))


def check_sandbox(context: DoctorContext, settings: Settings) -> FindingInfo:
    from tools.local.sandbox.probe import Sandboxes

    sandboxes = Sandboxes(settings.sandbox)
    if settings.sandbox in ("container", "e2b"):
        problem = asyncio.run(_find_sandbox_problem(context, settings.sandbox))
        if not problem:
            return ok("sandbox", sandboxes.description)
        return missing("sandbox", f"{settings.sandbox}: no command can run. {problem}", f"See {FILE}.")
    if sandboxes.available():
        return ok("sandbox", sandboxes.description)
    if settings.sandbox == "off":
        return note("sandbox", sandboxes.description)
    fix = "Install bubblewrap, and allow it to create user namespaces."
    absent = platform.system() == "Linux" and shutil.which("bwrap") is None
    return note("sandbox", sandboxes.description, fix, _installing("bubblewrap") if absent else ())


async def _find_sandbox_problem(context: DoctorContext, kind: str) -> str:
    sandbox = open_remote(kind, "doctor", Keys(context.environ, context.data_dir).variable)
    try:
        return await sandbox.check(load_spec(config_file().parent))
    except SandboxError as error:
        return error.message
    finally:
        await sandbox.close()


def _check_processes() -> FindingInfo:
    system = platform.system()
    if system == "Linux":
        return ok("processes", "found by session, parent and environment; orphans return to the sidecar (subreaper)")
    if system == "Windows":
        return note("processes", "found by process tree; a fully detached process can be missed")
    return ok("processes", f"found by session and parent ({system})")


def _check_notifications(context: DoctorContext, settings: Settings) -> FindingInfo:
    from sidecar.telemetry.notifier import find_notifier

    if settings.notify == "off":
        return ok("notices", "off in your settings; watch the task to see when it needs you")
    found = find_notifier(settings.notify, context.environ)
    return ok("notices", found.description if found else "no desktop; watch the task to see when it needs you")


def _check_tray() -> FindingInfo:
    """Whether the desktop shows it, only its window can find out; `brain desktop` says if there is none."""
    if find_spec("webview") is None:
        return ok("tray", "none; it comes with the window of `brain desktop`, which isn't installed")
    if find_spec("qtpy") is None:
        return ok("tray", "none; the window of `brain desktop` doesn't use Qt here")
    return ok("tray", "Qt's, while `brain desktop` is open")


def _check_vectors(settings: Settings) -> FindingInfo:
    if not settings.memory_vectors:
        return ok("vectors", "off; code is searched by words, history and imports")
    try:
        return ok("vectors", f"on, with the weights {find_weights().name}")
    except VectorsUnavailable as error:
        remedy = [Remedy(kind="command", value="pip install 'rainy-brain[vectors]'")]
        return missing("vectors", str(error), "Code is searched by words, history and imports.", remedy)


def _installing(package: str) -> list[Remedy]:
    """The install command for this machine's package manager."""
    command = next((command for name, command in _INSTALLERS.items() if shutil.which(name)), None)
    return [Remedy(kind="command", value=f"{command} {package}")] if command else []


def _check_own_tools(context: DoctorContext) -> Iterator[FindingInfo]:
    for name, problem in (context.running.tools if context.running is not None else {}).items():
        yield missing(f"your own tool {name}", problem, "Correct it; the next task loads it again.")


def _check_mcp(context: DoctorContext) -> Iterator[FindingInfo]:
    """Nothing is started: a server that wasn't used yet is fine."""
    if context.running is not None:
        for name, state, error in context.running.mcp:
            about = f"MCP server {name}"
            if state == "failed":
                yield missing(about, error, f"See what it says: brain mcp test {name}")
            elif state == "changed":
                yield note(about, "its tools changed and are blocked", f"Look at them: brain mcp test {name}")
            else:
                yield ok(about, state)
        return
    trusted = Trust(DataDir(context.data_dir)).trusted
    configured = Configuration(config_file().parent, trusted, environment=context.environ).load(str(context.workspace))
    for name in configured.servers:
        yield ok(f"MCP server {name}", "configured")
    for name, problem in configured.problems.items():
        yield missing(f"MCP server {name}", problem, "Correct the file it names.")
