"""What an examination finds: one line each."""

from collections.abc import Sequence
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


class Finding(NamedTuple):
    about: str
    state: Literal["ok", "note", "missing"]
    found: str
    fix: str = ""
    #: Whether nothing works without it.
    essential: bool = False
    mends: Sequence[Mend] = ()
