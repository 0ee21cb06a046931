"""What the person can set: in `config.toml` of the user's configuration directory, or by `BRAIN_…` in the environment.

The environment wins. A workspace sets nothing here.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sidecar.config.places import config_file

PREFIX = "BRAIN_"


class BadSettings(Exception):
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
        raise BadSettings(f"{file} cannot be read: {error}") from error
    for name in Settings.model_fields:
        value = environ.get(PREFIX + name.upper())
        if value:
            given[name] = value
    try:
        return Settings.model_validate(given)
    except ValidationError as error:
        problems = "; ".join(f"{_where(item['loc'], file)}: {item['msg']}" for item in error.errors())
        raise BadSettings(f"A setting is not usable. {problems}") from error


def _where(location: tuple[int | str, ...], file: Path) -> str:
    name = ".".join(str(part) for part in location)
    return f"{name} (in {file} or {PREFIX}{name.upper()})"
