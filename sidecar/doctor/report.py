"""What an examination finds: one line each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

OK: Literal["ok"] = "ok"
#: Nothing is broken, but something more would be possible.
NOTE: Literal["note"] = "note"
MISSING: Literal["missing"] = "missing"


class Mend(NamedTuple):
    """What mends it without another thought: trust a workspace, add a key, choose a model; or a command to copy."""

    kind: Literal["trust", "key", "model", "command"]
    value: str
    base_url: str = ""


class CheckResult(NamedTuple):
    about: str
    state: Literal["ok", "note", "missing"]
    found: str
    fix: str = ""
    #: Whether nothing works without it.
    essential: bool = False
    mends: Sequence[Mend] = ()


class RunningSidecar(NamedTuple):
    """What a sidecar knows of itself."""

    url: str
    pid: int
    tasks: Mapping[str, int]
    #: Empty while the journal can be written.
    journal_stalled: str
    journal_bytes: int


@dataclass(frozen=True, slots=True)
class DoctorContext:
    data_dir: Path
    workspace: Path
    environ: Mapping[str, str]
    running: RunningSidecar | None = None
