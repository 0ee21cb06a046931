"""Renames a symbol everywhere it is written, or shows what that would change."""

import re

from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.offline.wording import (
    is_path,
    name_group,
    path_group,
    said,
    selected_name,
    sent_back,
    shown_diff,
    this_file,
)
from sidecar.wire.base import JsonObject

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
    rf"{_where('then')}{_EVERYWHERE}{_STRINGS}{_ONLY}",
    re.IGNORECASE,
)
_FILES = re.compile(
    r"(?:rename|change\s+the\s+name\s+of)\s+(?:the\s+|this\s+|my\s+)?(?:file|folder|directory|module)\b|rename\s+\S*/",
    re.IGNORECASE,
)
#: A name of the code does not look like an English word behind "the".
_CODE = re.compile(r"[_.$#\d]|[a-z][A-Z]|^[A-Z]")
_NO_NAMES = frozenset(
    {"everything", "all", "them", "these", "those", "something", "camelcase", "snake_case", "pascalcase"}
)
_LISTED = re.compile(r"^- (?P<path>.+?):(?P<line>\d+) (?P<kind>[a-z ]+?) (?P<name>\S+)$", re.MULTILINE)
_SINGLE = re.compile(r"(?:renaming|Renamed) (?P<kind>[a-z ]+?) (?P<name>\S+) \((?P<place>[^)]+)\)")


class Rename:
    example = "rename `load` to `read`"
    tools = frozenset({"rename_symbol"})

    def recognise(self, question: Question) -> JsonObject | None:
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
        if is_path(old) or is_path(new):
            return {"file": True}
        wish: JsonObject = {"symbol": old, "newName": new}
        if not _place(wish, groups, question):
            return None
        if groups["strings"]:
            wish["includeStrings"] = True
        if groups["preview"] or groups["only"]:
            wish["preview"] = True
        return {"args": wish, "kind": kind if kind in _KINDS else ""}

    def next(self, wish: JsonObject, question: Question) -> Move:
        if wish.get("file"):
            return Decline(
                "The offline model renames symbols, not files. Say “rename `old` to `new`” for a function, class or "
                "variable; a file is moved with “run `git mv old.py new.py`”."
            )
        if wish.get("unselected"):
            return Decline("Nothing that has a name is selected. Select a name, or say “rename `old` to `new`”.")
        if (declined := sent_back(question)) is not None:
            return declined
        args, kind, last = wish["args"], str(wish["kind"]), question.last
        assert isinstance(args, dict)
        if last is None:
            # A kind that was said is compared before anything is written.
            return Act([("rename_symbol", {**args, "preview": True} if kind else args)])
        if last.status != "success":
            return self._which(args, kind, question)
        if args.get("preview"):
            return Say(shown_diff(last))
        if not kind or len(question.returns) > 1:
            return said(last)
        single = _SINGLE.search(last.content)
        if single is not None and single["kind"] not in _KINDS[kind]:
            return Decline(
                f"`{single['name']}` ({single['place']}) is a {single['kind']}, not a {kind}; nothing was changed."
            )
        return Act([("rename_symbol", args)])

    def _which(self, args: JsonObject, kind: str, question: Question) -> Move:
        """Of several with the same name, the one of the kind that was said."""
        last = question.last
        assert last is not None
        several = [each for each in _LISTED.finditer(last.content) if kind and each["kind"] in _KINDS[kind]]
        if len(several) == 1 and len(question.returns) == 1:
            return Act([("rename_symbol", {**args, "path": several[0]["path"], "line": int(several[0]["line"])})])
        return said(last)


def _place(wish: JsonObject, groups: dict[str, str | None], question: Question) -> bool:
    """Where it is: a file, or a function or class that it is inside of."""
    line = groups["line"] or groups["first_line"] or groups["then_line"]
    where = groups["first"] or groups["then"]
    if groups["first_here"] or groups["then_here"] or groups["this"]:
        if question.brief.current_file is None:
            return bool(groups["this"])
        wish["path"] = question.brief.current_file
    elif where is not None and this_file(where):
        return False
    elif where is not None and is_path(where):
        wish["path"] = where.removeprefix("./")
    elif where is not None:
        wish["symbol"] = f"{where}.{wish['symbol']}"
    if line is not None:
        if "path" not in wish:
            return False
        wish["line"] = int(line)
    return True
