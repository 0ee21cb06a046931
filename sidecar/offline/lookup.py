"""Finds files named without their folder, and the file that defines a symbol."""

import re
from dataclasses import replace

from sidecar.models.port import ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.results import format_place, quote_names, records, strings
from sidecar.offline.skill import Act, Decline, Move, OfflineSkill
from sidecar.wire.base import JsonObject

_PLACES = 8


def resolve_path(skill: OfflineSkill, args: JsonObject, question: ParsedRequest) -> ParsedRequest | Move:
    """The question with the full path of a file that the first call didn't find, or the move that looks for it."""
    returns = question.returns
    if not returns or returns[0].code != "not_found" or "find_files" not in question.offered:
        return question
    name = _missing_name(skill.next(args, replace(question, returns=(), turns=0)))
    # describe_file's skill looks for the file itself, less strictly.
    if not name or returns[0].tool == "describe_file":
        return question
    written = re.compile(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])")
    if not written.search(question.asked):
        return question
    if len(returns) == 1:
        return Act([("find_files", {"pattern": f"**/{name}"})])
    if returns[1].tool != "find_files":
        return question
    found = [path for path in strings(returns[1], "paths") if path.endswith(f"/{name}")]
    if len(found) == 1:
        return replace(question, asked=written.sub(lambda _: found[0], question.asked), returns=returns[2:])
    if not found:
        return Decline(f"There is no file `{name}` in this project; nothing was changed.")
    return Decline(f"Several files are named `{name}` ({quote_names(found)}). Say which one; nothing was changed.")


def _missing_name(first: Move) -> str:
    """The file name without a folder in the arguments of the first call."""
    if not isinstance(first, Act):
        return ""
    args = first.calls[0][1]
    paths = args.get("paths") or args.get("path") or args.get("from")
    name = paths[0] if isinstance(paths, list) else paths
    return name if isinstance(name, str) and "." in name and "/" not in name else ""


def find_definition(symbol: str) -> Act:
    return Act([("find_symbols", {"query": symbol.rpartition(".")[2]})])


def defining_file(symbol: str, back: ToolReturn) -> str | Decline:
    """The one file that defines the symbol."""
    found = [
        (f"{each['parent']}.{each['name']}" if each.get("parent") else str(each["name"]), each)
        for each in records(back, "symbols")
    ]
    exact = [each for name, each in found if name == symbol]
    matching = exact or [each for name, each in found if name.endswith(f".{symbol}")]
    paths = list(dict.fromkeys(str(each["path"]) for each in matching))
    if len(paths) == 1:
        return paths[0]
    if not paths:
        return Decline(f"Nothing named `{symbol}` is defined in this workspace.")
    places = ", ".join(format_place(each) for each in matching[:_PLACES])
    return Decline(f"Several things are named `{symbol}` ({places}). Say in which file.")
