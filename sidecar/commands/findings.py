"""What an examination finds: one line each."""

from typing import NamedTuple

OK = "ok"
#: Nothing is broken, but something more would be possible.
NOTE = "note"
MISSING = "missing"


class Finding(NamedTuple):
    about: str
    state: str
    found: str
    fix: str = ""
    #: Whether nothing works without it.
    essential: bool = False
