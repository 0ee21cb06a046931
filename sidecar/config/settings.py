"""The settings in `config.toml` of the user's configuration directory. A `BRAIN_…` variable wins over the file.

A workspace can't change any of them.
"""

import json
import logging
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sidecar.config.errors import UsageError
from sidecar.config.paths import config_file, write_private

PREFIX = "BRAIN_"
BASE_URL = "openai_base_url"

log = logging.getLogger(__name__)


class SettingsError(UsageError):
    pass


class Settings(BaseModel):
    """The reference in `REFERENCE.md` is generated from these fields, see `describe_settings`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    database_url: str = Field(
        "", description="`postgresql://…`: keep tasks there, shared by several sidecars and workers, not in a file"
    )
    redis_url: str = Field("", description="`redis://…`: also publish every event to the stream `brain:events`")
    remotes: str = Field(
        "",
        description="Git remotes that tasks may name, separated by commas: `https://host/team/app`, or "
        "`https://host/team/*` for all below; `BRAIN_GIT_TOKENS` has tokens for them: `host=TOKEN,other=TOKEN`",
    )
    model_fast: str = Field("", description="Model for planning and review; commas separate fallbacks")
    model_smart: str = Field("", description="Model for code; commas separate fallbacks")
    model_instant: str = Field("", description="Model for simple commands; commas separate fallbacks")
    openai_base_url: str = Field(
        "", description="Base URL of an OpenAI-compatible server for `openai/…`; `OPENAI_BASE_URL` wins"
    )
    model_idle_seconds: Annotated[float, Field(gt=0, description="Time limit for a model that sends nothing")] = 120
    model_reply_seconds: Annotated[float, Field(gt=0, description="Time limit for one reply")] = 900
    model_reply_tokens: Annotated[int, Field(ge=16, description="Token limit for one reply")] = 16_000
    model_effort: Literal["", "low", "medium", "high"] = Field(
        "", description="How much models that reason should think; empty: their own default"
    )
    rules_bytes: Annotated[
        int,
        Field(
            ge=0,
            le=1_048_576,
            description="Size limit of `AGENTS.md` and `CLAUDE.md` of a trusted workspace in a request",
        ),
    ] = 32_768
    max_tasks: Annotated[int, Field(ge=1, le=64, description="Tasks that run in parallel")] = 4
    max_queued: Annotated[int, Field(ge=1, description="Queue limit; further tasks are rejected")] = 1_000
    max_streams: Annotated[int, Field(ge=1, description="Limit of open event streams")] = 1_024
    max_body_bytes: Annotated[int, Field(ge=1_024, description="Size limit of a request body")] = 8 * 1024 * 1024
    slow_reader_seconds: Annotated[
        float, Field(gt=0, description="Close a stream whose reader takes nothing for this long; it can resume")
    ] = 20
    stall_seconds: Annotated[
        float,
        Field(gt=0, description="Hang time after which a killed sidecar counts its running tasks as frozen"),
    ] = 10
    keep_days: Annotated[float, Field(gt=0, description="Delete finished tasks after this many days")] = 90
    keep_bytes: Annotated[
        int, Field(ge=1_048_576, description="Journal size at which the oldest finished tasks are deleted")
    ] = 512 * 1024 * 1024
    keep_undo_bytes: Annotated[
        int, Field(ge=0, description="Space for one task's undo data; changes beyond it can't be undone")
    ] = 256 * 1024 * 1024
    bridge_heartbeat_seconds: Annotated[float, Field(gt=0, description="Interval of pings to a desktop shell")] = 15
    bridge_reconnect_seconds: Annotated[
        float, Field(ge=0, description="Time a call waits for a desktop shell that disconnected")
    ] = 30
    allowed_origins: str = Field("", description="More web origins that may call the API, separated by commas")
    let_through: str = Field("", description="Values that look secret but aren't redacted, separated by commas")
    plugins: str = Field(
        "",
        description="Entry points of `rainy_brain.tools` that are loaded as tools, separated by commas",
    )
    parallel_tools: str = Field(
        "",
        description="Tools that may run beside other calls, or with a minus may not: `run_tests, -recall`",
    )
    memory: Literal["local", "r2r"] = Field(
        "local", description="Search code in the local index, or also in an R2R server, which gets the indexed files"
    )
    memory_vectors: bool = Field(
        False,
        description="Also search code by static vectors (extra `vectors`); measured to add nothing to the words",
    )
    r2r_url: str = Field("", description="Address of that R2R 3.6 server; its key is read from `R2R_API_KEY`")
    sandbox: Literal["auto", "off", "copy", "container", "e2b"] = Field(
        "auto",
        description="Run commands in a local sandbox; or on a copy of the workspace: a directory, a container of "
        "Docker or Podman, a machine of E2B, as `sandbox.toml` says",
    )
    command_file_bytes: Annotated[
        int, Field(ge=0, description="Size limit of a file that a command writes; 0 is unlimited")
    ] = 1_000_000_000
    command_processes: Annotated[int, Field(ge=0, description="Process limit of a command; 0 is unlimited")] = 4_096
    command_memory_bytes: Annotated[
        int, Field(ge=0, description="Address space limit of each process of a command; 0 is unlimited")
    ] = 0
    verify_seconds: Annotated[
        float, Field(gt=0, description="Time limit for a project's test suite when a change is verified")
    ] = 120
    notify: Literal["desktop", "off"] = Field(
        "desktop", description="Notify you when a task waits, fails, needs you, or ends after a minute"
    )
    titles: Literal["model", "off"] = Field(
        "model", description="Let the model of the role `fast` name long tasks: one small request each"
    )
    doors_port: Annotated[
        int, Field(ge=0, le=65_535, description="Port on loopback where `brain serve` itself takes webhooks; 0: none")
    ] = 0
    log_format: Literal["text", "json"] = Field(
        "text", description="Log lines for people, or JSON lines with task, step, agent, tool, duration and tokens"
    )
    trace_endpoint: str = Field(
        "", description="OpenTelemetry collector that gets each ended task's trace, by OTLP over HTTP; empty: none"
    )
    scripts: str = Field("", description="Directory of the replies of `scripted/NAME` models, for tests and demos")


class SettingInfo(NamedTuple):
    """One setting for the reference and for help texts."""

    name: str
    variable: str
    type: str
    default: str | float
    bounds: str
    description: str


def describe_settings() -> list[SettingInfo]:
    described = []
    for name, field in Settings.model_fields.items():
        choices = get_args(field.annotation)
        kind = " or ".join(f'"{choice}"' for choice in choices) or getattr(field.annotation, "__name__", "str")
        signs = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}
        bounds = [
            f"{sign} {getattr(each, word)}"
            for each in field.metadata
            for word, sign in signs.items()
            if hasattr(each, word)
        ]
        described.append(
            SettingInfo(name, PREFIX + name.upper(), kind, field.default, ", ".join(bounds), field.description or "")
        )
    return described


def load(environ: Mapping[str, str] = os.environ, file: Path | None = None) -> Settings:
    file = file or config_file()
    text, given = "", dict[str, object]()
    try:
        text = file.read_text(encoding="utf-8")
        import tomllib  # most people have no file, so don't pay for the import

        given = tomllib.loads(text)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        raise SettingsError(f"Can't read {file}: {error}") from error
    variables = {name: value for name in Settings.model_fields if (value := environ.get(PREFIX + name.upper()))}
    try:
        return Settings.model_validate({**given, **variables})
    except ValidationError as error:
        problems = []
        for item in error.errors():
            name = str(item["loc"][0])
            where = PREFIX + name.upper() if name in variables else f"{file}{_line(text, name)}"
            problems.append(f"{where}: {_problem(name, item['type'], item['msg'])}")
        raise SettingsError("; ".join(problems)) from error


def _problem(name: str, kind: str, message: str) -> str:
    if kind != "extra_forbidden":
        return f"`{name}`: {message[0].lower()}{message[1:]}"
    from difflib import get_close_matches

    near = get_close_matches(name, Settings.model_fields, n=1)
    return f"unknown setting `{name}`" + (f"; did you mean `{near[0]}`?" if near else "")


def _line(text: str, name: str) -> str:
    """`:3` if the setting, or a table of that name, is on the third line."""
    own = re.compile(rf"\s*\[*\s*[\"']?{re.escape(name)}[\"']?\s*[=.\]]")
    return next((f":{number}" for number, line in enumerate(text.splitlines(), 1) if own.match(line)), "")


class ModelSettings:
    """Model for each role. Reloads `config.toml` when it changes, so a new choice applies to the next task.

    Without a file the given settings apply.
    """

    def __init__(self, settings: Settings, file: Path | None = None, environ: Mapping[str, str] | None = None) -> None:
        self._settings = settings
        self._file = file
        self._environ = environ or {}
        self._stamp = self._file_stamp()
        #: The settings at the start, which most of the sidecar uses until it ends.
        self._at_start = settings
        self._problem = ""

    def notice(self) -> str:
        """What you should know about a file that changed since the start; empty if there is nothing."""
        settings = self._current()
        if self._problem:
            return f"{self._problem.rstrip('.')}. The settings from before stay in force until you correct it."
        if settings == self._at_start:
            return ""
        waiting = [
            name
            for name in Settings.model_fields
            if not name.startswith("model_")
            and name != BASE_URL
            and getattr(settings, name) != getattr(self._at_start, name)
        ]
        if not waiting:
            return ""
        names = ", ".join(waiting)
        return f"{self._file} changed; {names} applies after a restart (`brain stop`)."

    def model(self, role: str) -> str:
        """Names separated by commas, or an empty string."""
        named: str = getattr(self._current(), f"model_{role}")
        return named

    @property
    def openai_base_url(self) -> str:
        return self._current().openai_base_url

    def served_at(self, provider: str) -> str | None:
        return self.openai_base_url or None if provider == "openai" else None

    def overruled(self, name: str) -> str | None:
        """The environment variable that wins over the file, if it is set."""
        variables = (PREFIX + name.upper(), *(["OPENAI_BASE_URL"] if name == BASE_URL else []))
        return next((variable for variable in variables if self._environ.get(variable)), None)

    def write(self, values: Mapping[str, str]) -> Path:
        """Set these values in the file; an empty one is removed. Everything else stays as it is."""
        if self._file is None:
            raise SettingsError("There is no settings file to write to.")
        # A dotfiles repository often links the file: change the target, keep the link.
        file = self._file.resolve()
        try:
            text = file.read_text(encoding="utf-8") if file.exists() else ""
            changed = edit_toml(text, values, file)
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(file, changed, keep_mode=True)
        except OSError as error:
            raise SettingsError(f"Can't write {file}: {error.strerror}. Nothing was changed.") from error
        return file

    def _current(self) -> Settings:
        stamp = self._file_stamp()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._settings, self._problem = load(self._environ, self._file), ""
                log.info("Read %s again.", self._file)
            except SettingsError as error:
                self._problem = str(error)
                log.warning("Keeping the previous settings: %s", error)
        return self._settings

    def _file_stamp(self) -> tuple[int, int, int] | None:
        try:
            found = self._file.stat() if self._file is not None else None
        except OSError:
            return None
        return (found.st_mtime_ns, found.st_size, found.st_ino) if found is not None else None


def edit_toml(text: str, values: Mapping[str, str], file: Path) -> str:
    """Set values line by line. Raises if the result would not parse to exactly the wanted settings."""
    import tomllib

    try:
        wanted: dict[str, object] = {**tomllib.loads(text), **values}
    except ValueError as error:
        raise SettingsError(f"Can't read {file}: {error}. Nothing was changed.") from error
    lines = text.splitlines()
    for name, value in values.items():
        line = [f"{name} = {json.dumps(value, ensure_ascii=False)}"] if value else []
        own = re.compile(rf"\s*{re.escape(name)}\s*=")
        at = next((number for number, each in enumerate(lines) if own.match(each)), len(lines))
        lines[at : at + 1] = line
    changed = "".join(f"{line}\n" for line in lines)
    try:
        correct = tomllib.loads(changed) == {name: value for name, value in wanted.items() if value != ""}
    except ValueError:
        correct = False
    if not correct:
        assignments = ", ".join(f'{name} = "{value}"' for name, value in values.items())
        raise SettingsError(f"Can't edit {file} safely. Nothing was changed. Add it yourself: {assignments}.")
    return changed
