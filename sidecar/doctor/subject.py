"""What is examined: a data directory, a workspace, an environment, and the sidecar that runs there, if one does."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple


class Running(NamedTuple):
    """What a sidecar knows of itself."""

    url: str
    pid: int
    tasks: Mapping[str, int]
    #: Empty while the journal can be written.
    journal_stalled: str
    journal_bytes: int


@dataclass(frozen=True, slots=True)
class Subject:
    data_dir: Path
    workspace: Path
    environ: Mapping[str, str]
    running: Running | None = None
