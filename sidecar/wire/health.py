"""What a client meets first: the ready line, health, the journal's state, and problem documents."""

from typing import Literal

from sidecar.wire.base import Wire, optional


class Ready(Wire):
    """The line on standard output when the sidecar is ready."""

    event: Literal["ready"] = "ready"
    url: str
    pid: int
    token_file: str
    version: str
    #: Only for commands on the same machine: the file with its certificate.
    certificate: str | None = optional()


class Health(Wire):
    status: Literal["ok"] = "ok"
    version: str


class JournalState(Wire):
    state: Literal["ok", "stalled"]
    message: str
    path: str
    size_bytes: int
    set_aside: list[str]


class FieldProblem(Wire):
    field: str
    message: str


class Problem(Wire):
    """A problem document (RFC 9457) with a stable `code`."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    errors: list[FieldProblem] | None = optional()
