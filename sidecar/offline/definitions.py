"""Where a symbol is defined that somebody named without a file."""

import re

from sidecar.models.port import ToolReturn
from sidecar.offline.skill import Act, Decline

_FOUND = re.compile(r"^(?P<path>.+?):(?P<line>\d+) (?P<kind>\w+) (?P<name>\S+)$")
_SHOWN = 8


def looked_up(symbol: str) -> Act:
    return Act([("find_symbols", {"query": symbol.rpartition(".")[2]})])


def defined(symbol: str, returned: ToolReturn) -> str | Decline:
    """The one file that defines it, or why none can be named."""
    found = [match for line in returned.content.splitlines() if (match := _FOUND.match(line))]
    exact = [each for each in found if each["name"] == symbol or each["name"].endswith(f".{symbol}")]
    top = [each for each in exact if each["name"] == symbol]
    paths = list(dict.fromkeys(each["path"] for each in top or exact))
    if len(paths) == 1:
        return paths[0]
    if not paths:
        return Decline(f"Nothing named `{symbol}` is defined in this workspace.")
    places = ", ".join(f"{each['path']}:{each['line']}" for each in (top or exact)[:_SHOWN])
    return Decline(f"Several things are named `{symbol}` ({places}). Say in which file you mean it.")
