"""Moves a function, a class or a constant to another file, and moves or renames files."""

import posixpath
import re
import shlex

from sidecar.models.port import ToolReturn
from sidecar.offline.lookup import defining_file, find_definition
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import HERE, group, is_member, is_path, part, path_group, phrases, selected_name
from sidecar.offline.results import failure, format_place, quote_names, records, strings
from sidecar.offline.skill import Act, Decline, Move, Say, answer_change, decline_fix
from sidecar.wire.base import JsonObject
from sidecar.wire.text import listed
from tools.code.languages import language_of

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
_FILE = phrases(
    """
    (?P<verb>rename|move) (the |this |my |our )?(?P<named>file )?{source} ((in)?to|as) {folder}{target}
    change the name of (the |this |my |our )?(?P<named>file )?{source} to {target}
    """,
    source=path_group("source"),
    target=path_group("target"),
    folder=part("(the )?((folder|directory) )?"),
)
#: They speak of a file; a rename of the file breaks none of them.
_DOCUMENTS = (".md", ".rst", ".txt", ".adoc")
_SHOWN = 8


class Moving:
    example = "move `{symbol}` from {file} to {target}"
    tools = frozenset({"move_symbol", "find_symbols", "find_files"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        asked = _ASKED.match(question.words)
        if asked is None or is_path(group(asked, "name")):
            return None
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


class MovingFiles:
    """Moves a file that no other file needs under its name."""

    example = "rename {file} to {target}"
    tools = frozenset({"move_file", "find_files", "search_code", "find_usages"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        asked = _FILE.match(question.words)
        if asked is None:
            return None
        source, target = (asked[name].removeprefix("./") for name in ("source", "target"))
        move = group(asked, "verb").lower() == "move"
        known = is_path(source) or ("." in source and not is_path(target) if move else _same_suffix(source, target))
        if is_member(source, target) and not move and not group(asked, "named"):
            return None
        if not (known or group(asked, "named")) or source.endswith("/") or target in ("", ".", ".."):
            return None
        return {"from": source, "to": target, "rename": not move}

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        if (declined := decline_fix(question)) is not None:
            return declined
        source, target, last = str(args["from"]), str(args["to"]), question.last
        if last is None:
            folder: list[tuple[str, JsonObject]] = (
                [] if args["rename"] else [("find_files", {"pattern": f"{target.rstrip('/')}/*"})]
            )
            return Act([("find_files", {"pattern": f"**/{posixpath.basename(source)}"}), *folder])
        if last.tool == "move_file":
            return Say(last.content) if last.status == "success" else answer_change(last)
        found, *inside = [strings(each, "paths") for each in question.returns if each.tool == "find_files"]
        paths = [path for path in found if f"/{path}".endswith(f"/{source}")]
        if source not in paths and len(paths) > 1:
            return Decline(f"Several files are named `{source}` ({quote_names(paths)}). Say which one.")
        source = source if source in paths or not paths else paths[0]
        if last.tool == "find_files" and paths:
            search: JsonObject = {"query": _mention(source), "regex": True}
            users: list[tuple[str, JsonObject]] = [("find_usages", {"symbol": source})] if language_of(source) else []
            return Act([("search_code", search), *users])
        looked = [back for back in question.returns if back.tool in ("search_code", "find_usages")]
        if (broken := next((back for back in looked if back.status != "success"), None)) is not None:
            return Decline(f"It is unknown what needs `{source}`. {failure(broken)} Nothing was changed.")
        lines = [each for back in looked for each in records(back, "matches") if each["path"] != source]
        importers = [str(each["path"]) for back in looked for each in records(back, "importers")]
        needing = [format_place(each) for each in lines if not str(each["path"]).lower().endswith(_DOCUMENTS)]
        if importers or needing:
            places = listed([f"`{each}`" for each in dict.fromkeys([*importers, *needing])], _SHOWN)
            command = f"git mv {shlex.quote(source)} {shlex.quote(target)}"
            return Decline(
                f"These need `{source}` under its name, and the offline model changes no imports or paths: {places}. "
                f"Nothing was changed. To move it all the same, say “run `{command}`”."
            )
        if target.endswith("/") or any(inside):
            target = posixpath.join(target, posixpath.basename(source))
        elif "/" not in target and args["rename"]:
            target = posixpath.join(posixpath.dirname(source), target)
        mentions = [f"`{format_place(each)}`" for each in lines]
        left = f"Left alone, in documents that name it: {listed(mentions, _SHOWN)}." if mentions else ""
        return Act([("move_file", {"from": source, "to": target})], left)


def _same_suffix(source: str, target: str) -> bool:
    """Whether both end alike, as `a.log` and `b.log` do: no symbol is renamed to that."""
    return "." in source and source.rpartition(".")[2] == target.rpartition(".")[2] and source != target


def _mention(source: str) -> str:
    """A pattern of the file's name, and of the module's that Python makes of it."""
    module = source.removesuffix(".py").replace("/", ".") if source.endswith(".py") and "/" in source else ""
    name = rf"(^|[^\w-]){re.escape(posixpath.basename(source))}\b"
    return rf"{name}|\b{re.escape(module)}\b" if module else name
