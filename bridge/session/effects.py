"""What a session wants done. Plain values: who has the socket carries them out, in order."""

from collections.abc import Sequence
from typing import NamedTuple

from sidecar.wire.bridge import EndedProcess, NotifyFrame, OpenCall, ResultBody, Welcome
from sidecar.wire.events import ErrorBody


class Send(NamedTuple):
    text: str


class Settled(NamedTuple):
    """The one end of a call: a result, or an error. `answered` is false where the shell did not say so itself."""

    call_id: str
    result: ResultBody | None
    error: ErrorBody | None = None
    killed: Sequence[EndedProcess] = ()
    answered: bool = True


class Streamed(NamedTuple):
    call_id: str
    stream: str
    text: str


class Notified(NamedTuple):
    frame: NotifyFrame


class Run(NamedTuple):
    """A shell runs this call now; it comes once for an id, however often the frame does."""

    call: OpenCall


class Stop(NamedTuple):
    call_id: str


class Welcomed(NamedTuple):
    frame: Welcome


Effect = Send | Settled | Streamed | Notified
ShellEffect = Send | Run | Stop | Welcomed
