"""Renames a symbol everywhere, or previews the change."""

import re

from sidecar.models.port import ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import is_member, is_path, name_group, path_group, selected_name, this_file
from sidecar.offline.results import failure, format_place, records, strings
from sidecar.offline.skill import Act, Decline, Move, Say, answer_change, decline_fix
from sidecar.wire.base import JsonObject
from sidecar.wire.text import listed

_KINDS = {
    "function": ("function", "local function"),
    "method": ("method",),
    "class": ("class",),
    "variable": ("variable", "local variable"),
    "constant": ("variable",),
    "global": ("variable",),
    "parameter": ("parameter",),
    "argument": ("parameter",),
    "attribute": ("attribute",),
    "property": ("attribute",),
    "field": ("attribute",),
    "member": ("attribute", "method"),
    "type": ("type", "class"),
    "interface": ("type",),
    "enum": ("class",),
    "component": ("function", "class", "variable"),
    "hook": ("function", "variable"),
}
_WORDS = "|".join((*_KINDS, "symbol", "name", "identifier", "local"))
_PREVIEW = (
    r"(?P<preview>(?:preview(?:\s+of)?|dry[- ]?run(?:\s+of)?|show\s+(?:me\s+)?(?:a\s+preview\s+of|"
    r"what\s+would\s+change)|show\s+(?:me\s+)?(?:what|how)|what\s+would(?:\s+change)?)[\s:,]*(?:if\s+(?:i|you|we)\s+)?)?"
)
_OLD = (
    rf"(?P<the>(?:the|my|our|a)\s+)?(?:(?P<kind>{_WORDS})\s+)?"
    rf"(?:(?P<this>this|it|the selection|(?:this|selected)\s+(?:{_WORDS}))|{name_group('old')})"
)
_LINE = r"(?:\s*,?\s*(?:at|on|in)?\s*line\s+(?P<line>\d+))?"
_NEW = rf"\s*(?:\s(?:to|into|as)\s|->|=>|→)\s*{name_group('new')}"
_EVERYWHERE = (
    r"(?:\s*,?\s*(?:everywhere|in\s+(?:the\s+)?(?:whole|entire)\s+(?:project|code\s?base|repo|repository|workspace)|"
    r"in\s+all\s+(?:the\s+)?files|across\s+(?:the\s+)?(?:\w+\s+)?(?:project|code\s?base|repo|files)|project-?wide))?"
)
_STRINGS = (
    r"(?P<strings>\s*,?\s*\(?(?:(?:and\s+)?also\s+in|including|and\s+in|also)\s+(?:the\s+)?"
    r"(?:strings|comments|docstrings|strings and comments|comments and strings)\)?)?"
)
_UNCERTAIN = (
    r"(?:\s*,?\s*(?:and\s+|but\s+)?(?:(?P<leave>(?:leave|leaving|keep|skip|ignore)\s+(?:the\s+)?(?:uncertain|unsure|"
    r"doubtful|other|rest)(?:\s+(?:ones|places))?(?:\s+(?:alone|as\s+they\s+are))?)|"
    r"(?P<likely>(?:including|include|also|with)\s+(?:the\s+)?(?:uncertain|unsure|doubtful|likely)(?:\s+(?:ones|places))?)))?"
)
_ONLY = (
    r"(?:\s*,?\s*(?:would\s+(?:change|do)|\(?(?P<only>preview(?:\s+only)?|only\s+a\s+preview|dry[- ]?run|"
    r"without\s+writing(?:\s+anything)?|but\s+(?:only\s+show|don't\s+write)\b.*)\)?))?"
)


def _where(group: str) -> str:
    return (
        r"(?:\s+(?:defined\s+)?(?:in|inside|of|within|from|at)\s+(?:(?:the\s+)?(?:file|function|method|class|module)\s+)?"
        rf"(?:(?P<{group}_here>this file|the current file|here)|{path_group(group)}))?"
    )


_ASKED = re.compile(
    rf"{_PREVIEW}(?:rename|renaming|renamed|change\s+(?:the\s+)?name\s+of)\s+{_OLD}{_where('first')}{_LINE}{_NEW}"
    rf"{_where('then')}{_EVERYWHERE}{_STRINGS}{_UNCERTAIN}{_ONLY}",
    re.IGNORECASE,
)
_FILES = re.compile(
    r"(?:rename|change\s+the\s+name\s+of)\s+(?:the\s+|this\s+|my\s+)?(?:file|folder|directory|module)\b|rename\s+\S*/",
    re.IGNORECASE,
)
#: After "the" a name must look like code, not like an English word.
_CODE = re.compile(r"[_.$#\d]|[a-z][A-Z]|^[A-Z]")
_NO_NAMES = frozenset(
    {"everything", "all", "them", "these", "those", "something", "camelcase", "snake_case", "pascalcase"}
)


_LISTED = 20


class Rename:
    example = "rename `{symbol}` to `{other}`"
    tools = frozenset({"rename_symbol"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        words = question.words
        asked = _ASKED.fullmatch(words)
        if asked is None:
            return {"file": True} if _FILES.match(words) else None
        groups = asked.groupdict()
        old, new, kind = groups["old"], groups["new"], (groups["kind"] or "").lower()
        if groups["this"]:
            old = selected_name(question)
            if old is None:
                return {"unselected": True}
        elif groups["the"] and not kind and not _CODE.search(old):
            return None
        if {old.lower(), new.lower()} & _NO_NAMES:
            return None
        same_owner = "." in old and old.rpartition(".")[0] == new.rpartition(".")[0]
        if not same_owner and not is_member(old, new) and (is_path(old) or is_path(new)):
            return {"file": True}
        call: JsonObject = {"symbol": old, "newName": new}
        if not _add_place(call, groups, question):
            return None
        if groups["strings"]:
            call["includeStrings"] = True
        if groups["leave"] or groups["likely"]:
            call["uncertain"] = "leave" if groups["leave"] else "rename"
        if groups["preview"] or groups["only"]:
            call["preview"] = True
        return {"args": call, "kind": kind if kind in _KINDS else ""}

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        if args.get("file"):
            return Decline(
                "The offline model renames symbols and files, not folders. To rename a folder, say “run `git mv old "
                "new`”."
            )
        if args.get("unselected"):
            return Decline("No name is selected. Select one, or say “rename `old` to `new`”.")
        if (declined := decline_fix(question)) is not None:
            return declined
        asked, kind, last = args["args"], str(args["kind"]), question.last
        assert isinstance(asked, dict)
        call = {**asked, **(_choose(question.returns[0], kind) if question.returns else {})}
        # A preview tells the kind of the symbol, and what will be left alone, before anything is written.
        preview = Act([("rename_symbol", {**call, "preview": True})])
        if last is None:
            return preview
        if last.status != "success":
            if call != asked and len(question.returns) == 1:
                return preview
            return _decline_uncertain(call, last) if last.code == "uncertain" else answer_change(last)
        if call.get("preview"):
            return Say(_describe_preview(last))
        if not last.details.get("preview"):
            return answer_change(last)
        found = last.details.get("symbol")
        if kind and isinstance(found, dict) and found["kind"] not in _KINDS[kind]:
            place = f"`{found['name']}` ({format_place(found)})"
            return Decline(f"{place} is a {found['kind']}, not a {kind}; nothing was changed.")
        return Act([("rename_symbol", call)], _describe_left_alone(last))


def _choose(first: ToolReturn, kind: str) -> JsonObject:
    """The place of the only symbol of this kind, if several symbols have the name."""
    found = [each for each in records(first, "candidates") if kind and each["kind"] in _KINDS[kind]]
    return {"path": found[0]["path"], "line": found[0]["line"]} if len(found) == 1 else {}


def _describe_left_alone(preview: ToolReturn) -> str:
    """What will stay as it is, said before anything is written."""
    left = strings(preview, "leftAlone")
    return f"Left alone, in strings, comments and documents: {listed(left, _LISTED)}." if left else ""


def _decline_uncertain(call: JsonObject, last: ToolReturn) -> Decline:
    asked = f"rename {call['symbol']} to {call['newName']}"
    places = f", or “{asked}, including the uncertain places”" if strings(last, "unsure") else ""
    return Decline(
        f"{failure(last)}\n\nLook at these first. Then say “{asked}, leave the rest alone”{places}; a preview is "
        f"“preview: {asked}”.",
        "uncertain",
    )


def _describe_preview(last: ToolReturn) -> str:
    diffs = [str(each.get("diff", "")) for each in records(last, "files")]
    block = "\n".join(diff for diff in diffs if diff)
    return f"{last.details.get('note', '')}" + (f"\n\n```diff\n{block}\n```" if block else "")


def _add_place(args: JsonObject, groups: dict[str, str | None], question: ParsedRequest) -> bool:
    """Add the file, the line, or the enclosing function or class. False if there is no such place."""
    line = groups["line"] or groups["first_line"] or groups["then_line"]
    where = groups["first"] or groups["then"]
    if groups["first_here"] or groups["then_here"] or groups["this"]:
        if question.brief.current_file is None:
            return bool(groups["this"])
        args["path"] = question.brief.current_file
    elif where is not None and this_file(where):
        return False
    elif where is not None and is_path(where):
        args["path"] = where.removeprefix("./")
    elif where is not None:
        args["symbol"] = f"{where}.{args['symbol']}"
    if line is not None:
        if "path" not in args:
            return False
        args["line"] = int(line)
    return True
