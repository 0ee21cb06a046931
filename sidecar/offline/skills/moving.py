"""Moves a function, a class or a constant to another file."""

import posixpath
import re

from sidecar.models.port import ToolReturn
from sidecar.offline.definitions import defined, looked_up
from sidecar.offline.phrases import group, part, phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move
from sidecar.offline.wording import HERE, is_path, path_group, said, selected_name, sent_back
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
    example = "move `parse_line` from src/app.py to src/parsing.py"
    tools = frozenset({"move_symbol", "find_symbols", "find_files"})

    def recognise(self, question: Question) -> JsonObject | None:
        asked = understood(_ASKED, question.words)
        if asked is None or is_path(group(asked, "name")):
            file = _FILE.fullmatch(question.words)
            return {"file": True} if file is not None and is_path(file["path"].strip("`\"'")) else None
        target, source = group(asked, "path"), group(asked, "source") or group(asked, "behind")
        if not is_path(target) or target.endswith("/") or (source and not is_path(source)):
            return None
        wish: JsonObject = {"symbol": group(asked, "name"), "to": target.removeprefix("./")}
        if group(asked, "this"):
            wish["symbol"] = selected_name(question) or ""
        if source:
            wish["from"] = source.removeprefix("./")
        elif (group(asked, "here") or group(asked, "this")) and question.brief.current_file:
            wish["from"] = question.brief.current_file
        return wish

    def next(self, wish: JsonObject, question: Question) -> Move:
        if wish.get("file"):
            return Decline(
                "The offline model moves a function, a class or a constant, not a whole file: “move `name` from a.py "
                "to b.py”. A file is moved with “run `git mv a.py b.py`”."
            )
        if (declined := sent_back(question)) is not None:
            return declined
        symbol, last = str(wish["symbol"]), question.last
        if not symbol:
            return Decline("Nothing that has a name is selected. Say “move `name` from a.py to b.py”.")
        if last is not None and last.tool == "move_symbol":
            return said(last)
        known = {each.tool: each for each in question.returns}
        if "from" not in wish:
            if "find_symbols" not in known:
                return looked_up(symbol)
            place = defined(symbol, known["find_symbols"])
            if isinstance(place, Decline):
                return place
            wish = {**wish, "from": place}
        return _to_target(wish, question.asked, known.get("find_files"))


def _to_target(wish: JsonObject, asked: str, found: ToolReturn | None) -> Move:
    """A target without a folder is the file of that name, and a new one stands beside the source, not at the root."""
    target, folder = str(wish["to"]), posixpath.dirname(str(wish["from"]))
    if not folder or "/" in target or f"./{target}" in asked:
        return Act([("move_symbol", wish)])
    if found is None:
        return Act([("find_files", {"pattern": f"**/{target}"})])
    lines = found.content.splitlines() if found.status == "success" else []
    places = [line for line in lines if line == target or line.endswith(f"/{target}")]
    beside = f"{folder}/{target}"
    if len(places) > 1 and beside not in places:
        return Decline(f"Several files are named `{target}` ({', '.join(places[:5])}). Say which one you mean.")
    return Act([("move_symbol", {**wish, "to": places[0] if len(places) == 1 else beside})])
