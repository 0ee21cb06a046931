"""The examination behind `brain doctor`. It changes nothing, and works when nothing else does."""

import os
import platform
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar import __version__
from sidecar.commands.client import Client
from sidecar.commands.containment import containment, sandbox
from sidecar.commands.errors import CommandFailed
from sidecar.commands.findings import MISSING, NOTE, OK, Finding
from sidecar.commands.sidecars import running
from sidecar.config.choices import Choices
from sidecar.config.keys import VARIABLES, Keys
from sidecar.config.places import config_file
from sidecar.config.settings import PREFIX, BadSettings, Settings, load

if TYPE_CHECKING:
    from sidecar.models.local import LocalServer


def examine(data_dir: Path, environ: Mapping[str, str] = os.environ) -> list[Finding]:
    client = running(data_dir)
    checks: list[Callable[[], Iterable[Finding]]] = [
        lambda: [_python()],
        lambda: [_data_dir(data_dir)],
        lambda: [_sidecar(client)],
        lambda: [_journal(data_dir / "journal.db", client)],
        lambda: _settings(environ),
        lambda: [_git(), _ripgrep()],
        lambda: [sandbox(environ), containment()],
        lambda: _models(data_dir, client, environ),
    ]
    return [finding for check in checks for finding in check()]


def _python() -> Finding:
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


def _sidecar(client: Client | None) -> Finding:
    if client is None:
        return Finding("sidecar", OK, "none is running; `brain` starts one, and `brain run` starts its own")
    status = client.get("/api/brain/status")
    counts = ", ".join(f"{count} {name}" for name, count in status["tasks"].items() if count) or "no tasks yet"
    return Finding("sidecar", OK, f"running at {client.url} (process {client.pid}): {counts}")


def _journal(path: Path, client: Client | None) -> Finding:
    aside = sorted(file.name for file in path.parent.glob("journal-damaged-*.db"))
    told = f"; set aside earlier because of damage: {', '.join(aside)}" if aside else ""
    if client is not None:
        state = client.get("/api/brain/status")["journal"]
        if state["state"] != "ok":
            return Finding("journal", MISSING, state["message"], "Make room on the disk; it goes on by itself.")
        return Finding("journal", OK, f"{state['sizeBytes'] / 1e6:.1f} MB, written by the running sidecar{told}")
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


def _settings(environ: Mapping[str, str]) -> Iterable[Finding]:
    file = config_file()
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


def _git() -> Finding:
    fix = "Install git; until then the git tools say that it is missing."
    if shutil.which("git") is None:
        return Finding("git", MISSING, "not found", fix)
    try:
        version = subprocess.run(["git", "--version"], capture_output=True, text=True, timeout=5, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("git", MISSING, f"it does not run: {error}", fix)
    return Finding("git", OK, version.strip().removeprefix("git version "))


def _ripgrep() -> Finding:
    from tools.builtin.ripgrep import ripgrep
    from tools.errors import ToolError

    try:
        return Finding("ripgrep", OK, ripgrep())
    except ToolError as error:
        return Finding("ripgrep", MISSING, "not found, so nothing can be searched", str(error))


def _models(data_dir: Path, client: Client | None, environ: Mapping[str, str]) -> Iterable[Finding]:
    from sidecar.models.catalog import Catalog
    from sidecar.models.local import find

    try:
        settings = load(environ)
        keys = Keys(environ, data_dir, Choices(settings).served_at)
        listed = Catalog(settings, Path(settings.scripts or data_dir / "scripts"), keys).list()
    except (BadSettings, CommandFailed):
        return
    for model in listed.models:
        roles = ", ".join(role.role for role in listed.roles if model.name in role.chain) or "no role"
        fix = "" if model.available else "Choose another one: `brain use PROVIDER/NAME`, or `brain use offline`."
        found = f"{model.name} for {roles}: {model.why}"
        yield Finding("model", OK if model.available else MISSING, found, fix)
    for provider in VARIABLES:
        origin = keys.origin(provider)
        if origin is not None:
            served = any(model.provider == provider and model.available for model in listed.models)
            fix = "" if served else f"Use one of its models: `brain use {provider}/NAME`."
            yield Finding("key", OK if served else NOTE, f"{provider}: {origin.place}", fix)
    for server in find():
        yield Finding("server", OK, f"{server.kind} at {server.base_url}: {_served(server)}")
    if all(model.provider in ("offline", "scripted") for model in listed.models):
        told = "No language model is configured: tasks that need one are declined, with what can be done instead."
        yield Finding(
            "", NOTE, told, "Put a key away with `brain keys set anthropic`, or name a server: `brain models`."
        )


def _served(server: "LocalServer") -> str:
    names = [f"{model.name} ({model.context_tokens or '?'} tokens)" for model in server.models[:5]]
    return ", ".join(names) or "no models"
