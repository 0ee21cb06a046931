"""The input and the findings of the checks. A finding is one line, with a fix in words and as one-click remedies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from sidecar.wire.system import FindingInfo, Remedy


class RunningSidecar(NamedTuple):
    """What a running sidecar reports about itself."""

    url: str
    pid: int
    tasks: Mapping[str, int]
    #: Empty while the journal can be written.
    journal_stalled: str
    journal_bytes: int
    #: Name, state and error of each MCP server.
    mcp: Sequence[tuple[str, str, str]] = ()
    #: Why tools of your own are not used, by name.
    tools: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class DoctorContext:
    data_dir: Path
    workspace: Path
    environ: Mapping[str, str]
    running: RunningSidecar | None = None


def ok(about: str, found: str, *, essential: bool = False) -> FindingInfo:
    return FindingInfo(about=about, state="ok", found=found, fix="", essential=essential, remedies=[])


def note(about: str, found: str, fix: str = "", remedies: Sequence[Remedy] = ()) -> FindingInfo:
    """Nothing is broken, but something could be better."""
    return FindingInfo(about=about, state="note", found=found, fix=fix, essential=False, remedies=list(remedies))


def missing(
    about: str, found: str, fix: str, remedies: Sequence[Remedy] = (), *, essential: bool = False
) -> FindingInfo:
    """`essential`: nothing works without it."""
    return FindingInfo(about=about, state="missing", found=found, fix=fix, essential=essential, remedies=list(remedies))
