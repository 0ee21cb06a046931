"""How much of a long fault run is done: a part of it in `make test`, all of it in `make faults`."""

import os

FULL = os.environ.get("BRAIN_FAULTS") == "full"


def scaled(usual: int, full: int) -> int:
    return full if FULL else usual
