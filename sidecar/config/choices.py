"""Which model plays which role, as the person chose it: in their `config.toml`, or in the environment, which wins.

The file is read again when it has changed, so that a choice holds from the next task on, without a new start.
"""

import json
import logging
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path

from sidecar.config.settings import PREFIX, BadSettings, Settings, load

log = logging.getLogger(__name__)
BASE_URL = "openai_base_url"


class Choices:
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
            raise BadSettings("There is no file to write to.")
        # A link is often somebody's collection of such files: what it leads to is changed, the link stays.
        file = self._file.resolve()
        try:
            text = file.read_text(encoding="utf-8") if file.exists() else ""
            _put(file, edited(text, values, file))
        except OSError as error:
            raise BadSettings(f"{file} cannot be written: {error.strerror}. Nothing was changed.") from error
        return file

    def _current(self) -> Settings:
        stamp = self._stamped()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._settings = load(self._environ, self._file)
            except BadSettings as error:
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
        raise BadSettings(f"{file} cannot be read: {error}. Nothing was changed.") from error
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
        raise BadSettings(f"{file} is written in a way that we do not change. Put it there yourself: {said}.")
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
