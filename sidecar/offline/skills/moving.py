"""Moves a function, a class or a constant to another file."""

import posixpath
import re

from sidecar.models.port import ToolReturn
from sidecar.offline.lookup import defining_file, find_definition
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import HERE, group, is_path, part, path_group, phrases, selected_name
from sidecar.offline.results import quote_names, strings
from sidecar.offline.skill import Act, Decline, Move, answer_change, decline_fix
from sidecar.wire.base import JsonObject

_ASKED = phrases(
    """
    (move|relocate|transfer) ({this}|{kind}{name}){source} (in)?to (the |a new )?(file |module )?{path}( from {behind})?
    put ({this}|{kind}{name}){source} (in|into) (its own|a separate|a new|another|the) (file|module) {path}
    """,
    this=r"(?P<this>it|the\s+selection|this(?:\s+(?:function|class|constant|type|component))?)",
    kind=part("((the|my|our) )?((function|class|method|constant|variable|type|interface|component|symbol|helper) )?"),
    source=part("( (from|out of|in) ({here}|(the )?(file )?{file}))?", here=HERE, file=path_group("source")),
    behind=path_group("behind"),
)
_FILE = re.compile(r"move\s+(?:the\s+)?(?:file\s+)?(?P<path>\S+)\s+(?:in)?to\s+\S+", re.IGNORECASE)


class Moving:
    example = "move `{symbol}` from {file} to {target}"
    tools = frozenset({"move_symbol", "find_symbols", "find_files"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        asked = _ASKED.match(question.words)
        if asked is None or is_path(group(asked, "name")):
            file = _FILE.fullmatch(question.words)
            return {"file": True} if file is not None and is_path(file["path"].strip("`\"'")) else None
        target, source = group(asked, "path"), group(asked, "source") or group(asked, "behind")
        if not is_path(target) or target.endswith("/") or (source and not is_path(source)):
            return None
        args: JsonObject = {"symbol": group(asked, "name"), "to": target.removeprefix("./")}
        if group(asked, "this"):
            args["symbol"] = selected_name(question) or ""
        if source:
            args["from"] = source.removeprefix("./")
        elif (group(asked, "here") or group(asked, "this")) and question.brief.current_file:
            args["from"] = question.brief.current_file
        return args

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        if args.get("file"):
            return Decline(
                "The offline model moves functions, classes and constants, not files: “move `name` from a.py to b.py”. "
                "To move a file, say “run `git mv a.py b.py`”."
            )
        if (declined := decline_fix(question)) is not None:
            return declined
        symbol, last = str(args["symbol"]), question.last
        if not symbol:
            return Decline("No name is selected. Say “move `name` from a.py to b.py”.")
        if last is not None and last.tool == "move_symbol":
            return answer_change(last)
        known = {each.tool: each for each in question.returns}
        if "from" not in args:
            if "find_symbols" not in known:
                return find_definition(symbol)
            place = defining_file(symbol, known["find_symbols"])
            if isinstance(place, Decline):
                return place
            args = {**args, "from": place}
        return _move_to_target(args, question.asked, known.get("find_files"))


def _move_to_target(args: JsonObject, asked: str, found: ToolReturn | None) -> Move:
    """A target without a folder is an existing file of that name, or else a new one beside the source."""
    target, folder = str(args["to"]), posixpath.dirname(str(args["from"]))
    if not folder or "/" in target or f"./{target}" in asked:
        return Act([("move_symbol", args)])
    if found is None:
        return Act([("find_files", {"pattern": f"**/{target}"})])
    places = [path for path in strings(found, "paths") if f"/{path}".endswith(f"/{target}")]
    beside = f"{folder}/{target}"
    if len(places) > 1 and beside not in places:
        return Decline(f"Several files are named `{target}` ({quote_names(places)}). Say which one.")
    return Act([("move_symbol", {**args, "to": places[0] if len(places) == 1 else beside})])
