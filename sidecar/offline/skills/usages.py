"""Answers who uses a symbol or a file, and what a change of it may break."""

import re
from collections.abc import Sequence

from sidecar.models.port import ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import group, is_path, part, phrases, selected_name
from sidecar.offline.results import LONGEST, failure, format_place, records
from sidecar.offline.skill import Act, Decline, Move, OneCall, Say
from sidecar.wire.base import JsonObject
from sidecar.wire.text import bulleted, plural
from tools.code.files import is_copied
from tools.code.languages import language_of
from tools.test_files import is_test

_CODE = r"\.(?:py|tsx?|jsx?|mjs|go|rs|java)"
FILE = (
    r"(?P<file_quote>[`\"'“])?(?P<file>[\w@+./-]*/[\w@+./-]+|[\w-]+"
    rf"{_CODE}|(?(file_quote)[\w@+./() -]+{_CODE}|(?!)))(?:[`\"'”])?"
)
_THIS = r"(?P<this>this(?:\s+(?:file|function|class|method|code|module|symbol))?|it)"
CHANGE = part("(chang|remov|delet|renam|edit|modif|refactor|touch)(e|ed|es|ing|y|ied|ying)?")
_WHAT = part("{kind}((the )?(file|module) )?({this}|{file}|{name})( (in|from) {path})?", this=_THIS, file=FILE)
_USED = phrases(
    """
    {who} (all )?(calls?|uses?|references?|imports?|invokes?|needs?) {what}{where}
    {who} (is|are) (using|calling|importing|referencing) {what}{where}
    where (is|are) {what} (being )?(used|called|referenced|imported|invoked){where}
    where do (we|i|you) (call|use|reference|import) {what}{where}
    (find|show( me)?|list|get)( me)?( all)?( of)?( the)? {users} (of |to |for )?{what}{where}
    {users} of {what}{where}
    is {what} (still |ever )?(used|called|referenced|imported){where}
    """,
    what=_WHAT,
    who=part("(who|what|which (files?|functions?|classes|code|modules?|packages?|parts?))"),
    users="(?:usages?|uses|references?|callers?|call\\s?sites?|users|importers?)",
    where=part("( anywhere| in {project})?"),
)
_SUBCLASSES = phrases(
    """
    {who} (all )?(sub-?class(es)?|extends?|inherits?( from)?|derives?( from)?|implements?) {what}{where}
    (what are|(find|show( me)?|list|get)( me)?)( all)?( of)?( the)? {children} of {what}{where}
    {children} of {what}{where}
    """,
    what=_WHAT,
    who=part("(who|what|which (types?|classes|class|code|modules?|interfaces?|components?))"),
    children="(?:sub-?classes|child classes|derived classes|implementations|implementers)",
    where=part("( anywhere| in {project})?"),
)
_BROKEN = phrases(
    """
    what (else )?({may} )?(breaks?|happens?|fails?|changes|stops? working) (if|when) (i|we|you) {change} {what}
    what (else )?(is|would be|will be|gets|might be) (affected|impacted|broken) (by|if i|if we) ({change} )?{what}
    ((what is|what would be|show me) )?(the )?(impact|effects?|blast radius) of ({change} |a change (of|to|in) )?{what}
    (what|who|which (files?|code|modules?)) (all )?depends? on {what}
    (can i (safely )?|(is it|would it be) safe to ){change} {what}
    (which|what) tests? (cover|test|reach|call|use|exercise|check)s? {what}
    (which|what) tests? (should|must|do) i run (if|when|after) (i )?{change} {what}
    (is|are) {what} (tested|covered( by (the )?tests?)?)
    """,
    what=_WHAT,
    may="(?:would|will|could|might|can|may)",
    change=CHANGE,
)
_MOST, _SHOWN, _WIDTH = 500, 20, 140
_IMPORTED = re.compile(r"\bimport(?:s|ed|ing|ers?)?\b", re.IGNORECASE)
#: An import of Python or a script, or a line of Go's block of imports.
_IMPORT_LINE = re.compile(r"^\s*(?:import|from|export|use|#include)\b|\brequire\(|^\s*(?:[\w.]+\s+)?\"[^\"\s]+\"\s*$")
_RELATIVE_IMPORT = re.compile(r"^\s*from\s+\.|[\"']\.{1,2}/")
_NO_NAME = re.compile(r"you|me|us|we|they|the|an?|any|that|there|nobody|everyone|someone|all|python|git", re.IGNORECASE)


class Usages(OneCall):
    example = "what breaks if I change `{symbol}`?"
    tool = "find_usages"
    tools = frozenset({"find_usages"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        if asked := _USED.match(question.words):
            return _arguments(asked, question)
        if asked := _SUBCLASSES.match(question.words):
            args = _arguments(asked, question)
            rust = "implement" in question.words
            return {**args, "subclasses": True, "implements": rust} if args is not None else None
        asked = _BROKEN.match(question.words)
        args = _arguments(asked, question) if asked is not None else None
        return {**args, "transitive": True} if args is not None else None

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        if args.get("unselected"):
            return Decline("Nothing is selected, and no file is open. Name the function or the file that you mean.")
        if args.get("subclasses"):
            named: JsonObject = {name: args[name] for name in ("symbol", "path") if name in args}
            return _subclasses(named, question, traits=bool(args["implements"]))
        if "/" in str(args["symbol"]) and question.returns and question.returns[0].code == "no_symbol":
            return _imports_of(str(args["symbol"]), question.returns)
        returns, (owner, _, name) = question.returns, str(args["symbol"]).rpartition(".")
        if not returns or "search_code" not in question.offered or not name.isidentifier():
            return super().next(args, question)
        first = returns[0]
        unused = first.details.get("usages") == [] or first.details.get("copied") is True
        if first.code != "no_symbol" and not (first.status == "success" and unused):
            return super().next(args, question)
        if len(returns) == 1:
            # Others may call what the project doesn't define, or calls by another way.
            container = rf"\b{re.escape(owner.rpartition('.')[2])}\b.*" if owner else ""
            return Act([("search_code", {"query": rf"{container}\b{name}\b", "regex": True, "maxResults": _MOST})])
        symbol = str(args["symbol"])
        return _describe_mentions(symbol, first, returns[1], imports=_IMPORTED.search(question.words) is not None)


def _imports_of(module: str, returns: Sequence[ToolReturn]) -> Move:
    """The lines that import a module of a package by its path."""
    if len(returns) == 1:
        return Act([("search_code", {"query": module, "maxResults": _MOST})])
    lines = [each for each in records(returns[1], "matches") if _IMPORT_LINE.search(str(each["text"]))]
    whole = re.compile(rf"{re.escape(module)}[\"'`]")
    # Those of the module itself, and not of what is below it.
    lines = [each for each in lines if whole.search(str(each["text"]))] or lines
    if not lines:
        return Say(f"No file of this project is `{module}`, and no line imports it under that name.")
    head = f"These lines import `{module}`, which is no file of this project:"
    return Say("\n".join([head, "", *bulleted([_quote(each) for each in sorted(lines, key=_order)], _SHOWN)]))


def _order(line: JsonObject) -> tuple[object, ...]:
    """Code before tests, and last what a program wrote: lines that no one reads."""
    path = str(line["path"])
    return len(str(line["text"])) > LONGEST, is_test(path), path, line["line"]


def _quote(line: JsonObject) -> str:
    return f"`{format_place(line)}` `{' '.join(str(line['text']).split())[:_WIDTH]}`"


def _subclasses(args: JsonObject, question: ParsedRequest, *, traits: bool) -> Move:
    if (last := question.last) is None:
        return Act([("find_usages", args)])
    name = str(args["symbol"]).rpartition(".")[2]
    if last.tool == "search_code":
        if lines := records(last, "matches"):
            head = f"These lines implement `{name}`:"
            return Say("\n".join([head, "", *bulleted([_quote(each) for each in sorted(lines, key=_order)], _SHOWN)]))
        last = question.returns[0]
    elif traits and not _bases(last) and "search_code" in question.offered:
        # Traits of Rust, also those of its library.
        query = rf"^\s*(unsafe\s+)?impl\b.*\b{re.escape(name)}\b(<.*>)?\s+for\b"
        return Act([("search_code", {"query": query, "regex": True, "glob": "*.rs", "maxResults": _MOST})])
    if last.status != "success":
        return Decline(failure(last))
    if not (found := _bases(last)):
        implicit = " In Go a type doesn't name what it implements." if ".go:" in last.content else ""
        return Say(f"No class of this project names `{args['symbol']}` as its base.{implicit}")
    found.sort(key=lambda each: (is_test(str(each["path"])), str(each["path"]), int(str(each["line"]))))
    shown = bulleted([f"`{each['within']}` — `{format_place(each)}`" for each in found], _SHOWN)
    head = f"`{args['symbol']}` is the direct base of {plural(len(found), 'class', 'classes')}:"
    return Say("\n".join([head, "", *shown]))


def _bases(found: ToolReturn) -> list[JsonObject]:
    return [each for each in records(found, "usages") if each.get("kind") == "base"]


def _describe_mentions(symbol: str, first: ToolReturn, search: ToolReturn, *, imports: bool) -> Move:
    """The lines that name it, if no usage is certain; only those that import it, if that was the question."""
    name = symbol.rpartition(".")[2]
    defined = re.compile(rf"\b(?:def|class|function|func|fn|const|let|type|interface)\s+{re.escape(name)}\b")
    lines = [
        each
        for each in records(search, "matches")
        if language_of(str(each["path"])) is not None
        and not is_copied(str(each["path"]))
        and not defined.search(str(each["text"]))
    ]
    if not lines:
        # "No callers" is an answer, also for a name that isn't there.
        unknown = f"Unknown: {failure(first)} No line of its code holds that name."
        return Say(first.content if first.status == "success" else unknown)
    lines.sort(key=_order)
    importing = [each for each in lines if _IMPORT_LINE.search(str(each["text"]))] if imports else []
    lines = importing or lines
    act = "import" if importing else "name"
    shown = [_quote(each) for each in lines]
    inside = re.compile(rf"{_RELATIVE_IMPORT.pattern}|^\s*(?:from|import)\s+\w[\w.]*\.{re.escape(name)}\b")
    own = any(inside.search(str(each["text"])) for each in lines)
    outside = ", so it comes from outside the project" if importing and not own else ""
    head = (
        f"`{symbol}` is not defined in this project under that name; these lines {act} it{outside}:"
        if first.status != "success"
        else f"{first.content}\n\nThese lines of the project itself hold its name:"
    )
    return Say("\n".join([head, "", *bulleted(shown, _SHOWN)]))


def _arguments(asked: re.Match[str], question: ParsedRequest) -> JsonObject | None:
    brief = question.brief
    if said := group(asked, "this"):
        name = None if said.endswith(("file", "module")) else selected_name(question)
        if name is not None:
            return {"symbol": name, **({"path": brief.current_file} if brief.current_file else {})}
        return {"symbol": brief.current_file} if brief.current_file else {"unselected": True}
    if file := group(asked, "file"):
        return {"symbol": file.removeprefix("./")}
    name, path = asked["name"].replace("::", "."), group(asked, "path")
    if _NO_NAME.fullmatch(name):
        return None
    return {"symbol": name, **({"path": path.removeprefix("./")} if path and is_path(path) else {})}
