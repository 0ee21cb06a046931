"""What the person can set: in `config.toml` of the user's configuration directory, or by `BRAIN_…` in the environment.

The environment wins. A workspace sets nothing here.
"""

import json
import logging
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sidecar.config.paths import config_file

PREFIX = "BRAIN_"
BASE_URL = "openai_base_url"

log = logging.getLogger(__name__)


class SettingsError(Exception):
    pass


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    model_fast: str = Field("", description="Model for planning and review; several with commas: a chain.")
    model_smart: str = Field("", description="Model for code; several with commas: a chain.")
    model_instant: str = Field("", description="Model for simple commands; several with commas: a chain.")
    openai_base_url: str = Field(
        "", description="Where `openai/…` is served if not at OpenAI: a server on this machine. OPENAI_BASE_URL wins."
    )
    model_idle_seconds: Annotated[float, Field(gt=0, description="How long a model may say nothing.")] = 120
    model_reply_seconds: Annotated[float, Field(gt=0, description="How long one reply of a model may take.")] = 900
    model_reply_tokens: Annotated[int, Field(ge=16, description="How long one reply of a model may be, in tokens.")] = (
        16_000
    )
    max_tasks: Annotated[int, Field(ge=1, le=64, description="Tasks at work at the same time.")] = 4
    max_queued: Annotated[int, Field(ge=1, description="Tasks that may wait for a place; more are refused.")] = 1_000
    max_streams: Annotated[int, Field(ge=1, description="Event streams that may be open at once.")] = 1_024
    max_body_bytes: Annotated[int, Field(ge=1_024, description="The largest request body.")] = 8 * 1024 * 1024
    slow_reader_seconds: Annotated[
        float, Field(gt=0, description="How long a stream may take nothing before it is closed; it can be resumed.")
    ] = 20
    keep_days: Annotated[float, Field(gt=0, description="Ended tasks older than this are dropped.")] = 90
    keep_bytes: Annotated[
        int, Field(ge=1_048_576, description="The journal's size from which the oldest ended tasks are dropped.")
    ] = 512 * 1024 * 1024
    keep_undo_bytes: Annotated[
        int, Field(ge=0, description="What the file contents of one task may take; what is beyond cannot be undone.")
    ] = 256 * 1024 * 1024
    bridge_heartbeat_seconds: Annotated[
        float, Field(gt=0, description="How often a desktop shell is asked whether it is still there.")
    ] = 15
    bridge_reconnect_seconds: Annotated[
        float, Field(ge=0, description="How long calls wait for a desktop shell that was lost.")
    ] = 30
    allowed_origins: str = Field("", description="Further web origins that may call, with commas between them.")
    let_through: str = Field("", description="Values that are not redacted although they look secret, with commas.")
    sandbox: Literal["auto", "off"] = Field("auto", description="Whether commands run inside a sandbox.")
    command_file_bytes: Annotated[
        int, Field(ge=0, description="The largest file that a command may write; 0 for any size.")
    ] = 1_000_000_000
    command_processes: Annotated[
        int, Field(ge=0, description="How many processes a command may start and keep; 0 for any number.")
    ] = 4_096
    command_memory_bytes: Annotated[
        int, Field(ge=0, description="The address space of each process of a command; 0 for any size.")
    ] = 0
    verify_seconds: Annotated[
        float, Field(gt=0, description="How long all of a project's tests may take when a change is verified.")
    ] = 120
    notify: Literal["desktop", "off"] = Field("desktop", description="Who tells you that a task needs you.")
    scripts: str = Field("", description="Directory of the replies that `scripted/NAME` plays; for tests and demos.")


def load(environ: Mapping[str, str] = os.environ, file: Path | None = None) -> Settings:
    file = file or config_file()
    given: dict[str, object] = {}
    try:
        text = file.read_text(encoding="utf-8")
        import tomllib  # most people have no file, and need not wait for what reads it

        given = tomllib.loads(text)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        raise SettingsError(f"{file} cannot be read: {error}") from error
    for name in Settings.model_fields:
        value = environ.get(PREFIX + name.upper())
        if value:
            given[name] = value
    try:
        return Settings.model_validate(given)
    except ValidationError as error:
        problems = "; ".join(f"{_where(item['loc'], file)}: {item['msg']}" for item in error.errors())
        raise SettingsError(f"A setting is not usable. {problems}") from error


def _where(location: tuple[int | str, ...], file: Path) -> str:
    name = ".".join(str(part) for part in location)
    return f"{name} (in {file} or {PREFIX}{name.upper()})"


class ModelSettings:
    """With no file, what the settings said is what holds."""

    def __init__(self, settings: Settings, file: Path | None = None, environ: Mapping[str, str] | None = None) -> None:
        self._settings = settings
        self._file = file
        self._environ = environ or {}
        self._stamp = self._stamped()

    def model(self, role: str) -> str:
        """What is named for the role, with commas between several; empty if nothing is."""
        named: str = getattr(self._current(), f"model_{role}")
        return named

    @property
    def openai_base_url(self) -> str:
        return self._current().openai_base_url

    def served_at(self, provider: str) -> str | None:
        return self.openai_base_url or None if provider == "openai" else None

    def overruled(self, name: str) -> str | None:
        """The variable of the environment that wins over what the file says, if there is one."""
        variables = (PREFIX + name.upper(), *(["OPENAI_BASE_URL"] if name == BASE_URL else []))
        return next((variable for variable in variables if self._environ.get(variable)), None)

    def write(self, values: Mapping[str, str]) -> Path:
        """Puts these into the person's file; an empty one is taken out. Everything else stays as it was."""
        if self._file is None:
            raise SettingsError("There is no file to write to.")
        # A link is often somebody's collection of such files: what it leads to is changed, the link stays.
        file = self._file.resolve()
        try:
            text = file.read_text(encoding="utf-8") if file.exists() else ""
            _put(file, edited(text, values, file))
        except OSError as error:
            raise SettingsError(f"{file} cannot be written: {error.strerror}. Nothing was changed.") from error
        return file

    def _current(self) -> Settings:
        stamp = self._stamped()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._settings = load(self._environ, self._file)
            except SettingsError as error:
                log.warning("What was chosen before still holds: %s", error)
        return self._settings

    def _stamped(self) -> tuple[int, int, int] | None:
        if self._file is None:
            return None
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def edited(text: str, values: Mapping[str, str], file: Path) -> str:
    """The text of a configuration file with these values in it, a line each."""
    import tomllib

    try:
        wanted: dict[str, object] = {**tomllib.loads(text), **values}
    except ValueError as error:
        raise SettingsError(f"{file} cannot be read: {error}. Nothing was changed.") from error
    lines = text.splitlines()
    for name, value in values.items():
        line = [f"{name} = {json.dumps(value, ensure_ascii=False)}"] if value else []
        own = re.compile(rf"\s*{re.escape(name)}\s*=")
        places = [place for place, each in enumerate(lines) if own.match(each)] or [len(lines)]
        lines[places[0] : places[0] + 1] = line
    changed = "".join(f"{line}\n" for line in lines)
    try:
        holds = tomllib.loads(changed) == {name: value for name, value in wanted.items() if value != ""}
    except ValueError:
        holds = False
    if not holds:
        said = ", ".join(f'{name} = "{value}"' for name, value in values.items())
        raise SettingsError(f"{file} is written in a way that we do not change. Put it there yourself: {said}.")
    return changed


def _put(file: Path, text: str) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}-{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    if file.exists():
        shutil.copymode(file, temporary)
    temporary.replace(file)
