"""How much of a long fault run is done: a part of it in `make test`, all of it in `make faults`."""

import os
from typing import TypeVar

Size = TypeVar("Size")

FULL = os.environ.get("BRAIN_FAULTS") == "full"


def scaled(usual: Size, full: Size) -> Size:
    return full if FULL else usual
