"""Says what a symbol is and where: signature, doc, place, who uses it, what it calls."""

import re

from sidecar.offline.output import why
from sidecar.offline.phrases import group, part, phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.offline.wording import is_path
from sidecar.wire.base import JsonObject

_SYMBOL = part(
    "{kind}{name}( (function|method|class|component))?( (in|from|of|inside) (the (file|folder|module) )?{path})?"
)
_EXPLAIN = phrases(
    """
    (explain|describe|tell me( more)? about)( to me)? {symbol}
    explain( to me)? (how|what) {symbol} (does|works?|is|means)
    (what|how) (does|do) {symbol} (do|work|mean|return)
    (what|how) (does|do) {kind}{name} (do|work|mean|return) in {path}
    how is {symbol} (implemented|written|defined)
    (walk|talk|take) me through {symbol}
    (explain|describe) the {name} (?P<kind>function|method|class|component|type|interface)( in {path})?
    (what|how) does the {name} (?P<kind>function|method|class|component|type|interface) (do|work|return)( in {path})?
    """,
    symbol=_SYMBOL,
)
#: So people ask about everything in the world; it must look like code.
_CODED = phrases(
    """
    (what is|what's|show me) {symbol}( for| doing| used for)?
    ((what is|what's|what are|show me) )?the (signature|purpose|parameters|arguments|doc ?string) of {symbol}
    (show me )?what {symbol} calls
    what does {symbol} call
    """,
    symbol=_SYMBOL,
)
_PLACE = phrases(
    """
    where('s| is| do (we|i|you) (define|declare|have)) {symbol}( {defined})?
    (find|show( me)?|go to|jump to|open) (the )?(definition|declaration|implementation|source) of {symbol}
    (where can i find|locate|go to|jump to|which file (defines|has|contains)) {symbol}
    """,
    symbol=_SYMBOL,
    defined="(?:defined|declared|implemented|located|coming\\s+from|from)",
)
_THIS = phrases(
    """
    {ask} (this|that|it|the selection){after}
    {ask} (this|the selected|the highlighted) {thing}{after}
    """,
    ask=part("(explain|describe|what does|what is|what's|how does|tell me about)"),
    thing="(?:code|function|method|class|selection|snippet|block|part|piece|thing|one)",
    after=part("( (do|does|work|code|mean|for|here))?"),
)
_DEFINES = re.compile(
    r"(?:^|\n)\s*(?:export\s+)?(?:default\s+)?(?:abstract\s+)?(?:async\s+)?"
    r"(?:def|class|function\*?|const|let|interface|type|enum|fn|func|struct|trait)\s+([A-Za-z_$][\w$]*)"
)
_CALLS = re.compile(r"(?<![.\w])([A-Za-z_$][\w$]*)\s*\(")
_SYNTAX = re.compile(r"if|for|while|switch|catch|return|print|len|range|super|await|typeof|sizeof|with|except|elif|not")
_CODE = re.compile(r"[_.$#\d:]|[a-z][A-Z]|^[A-Z]\w*[a-z]")
_NO_NAME = re.compile(
    r"this|that|it|everything|all|code|files?|project|here|there|you|we|they|me|us|them|something|anything|yourself|"
    r"git|python|javascript|typescript|rust|java|the|a|an|my|our|how|what|why",
    re.IGNORECASE,
)
_MOST = 3


class ExplainSymbol:
    example = "explain `parse_line`"
    tools = frozenset({"describe_symbol", "describe_file"})

    def recognise(self, question: Question) -> JsonObject | None:
        words = question.words
        if understood(_THIS, words):
            return _selected(question)
        if asked := understood(_PLACE, words):
            return _wish(asked, short=True)
        if asked := understood(_EXPLAIN, words):
            return _wish(asked)
        asked = understood(_CODED, words)
        return _wish(asked) if asked is not None and _is_code(asked, words) else None

    def next(self, wish: JsonObject, question: Question) -> Move:
        if wish.get("unselected"):
            return Decline("Nothing is selected, and no file is open. Name what you mean: “explain `parse_line`”.")
        if "names" in wish:
            return self._several(wish, question)
        last = question.last
        if last is None:
            file = wish.get("file")
            args = {key: value for key, value in wish.items() if key in ("symbol", "path")}
            return Act([("describe_file", {"path": file})] if file else [("describe_symbol", args)])
        if last.status != "success":
            more = "" if wish.get("file") else " The offline model knows this project's code, and no more than that."
            return Decline(f"{why(last)}{more}")
        return Say(_short(last.content) if wish.get("short") else last.content)

    def _several(self, wish: JsonObject, question: Question) -> Move:
        """What is selected: what it defines, or else what it calls."""
        names = wish["names"]
        assert isinstance(names, list)
        if not names:
            return Decline("The selection defines and calls nothing that has a name.")
        if not question.returns:
            return Act([("describe_symbol", {"symbol": str(name)}) for name in names])
        told = [each.content for each in question.returns if each.status == "success"]
        if not told:
            listed = ", ".join(f"`{name}`" for name in names)
            return Decline(f"The selection names {listed}, and the project defines none of them.")
        return Say("\n\n---\n\n".join(told))


def _selected(question: Question) -> JsonObject:
    code = question.brief.selected_code or ""
    if not code.strip():
        file = question.brief.current_file
        return {"file": file} if file else {"unselected": True}
    bare = re.fullmatch(r"\s*([A-Za-z_$][\w$.]*)\s*", code)
    names = [bare[1]] if bare else _DEFINES.findall(code)
    names = names or [each for each in _CALLS.findall(code) if not _SYNTAX.fullmatch(each)]
    return {"names": list(dict.fromkeys(names))[:_MOST]}


def _wish(asked: re.Match[str], *, short: bool = False) -> JsonObject | None:
    name, path = asked["name"], group(asked, "path")
    if _NO_NAME.fullmatch(name) or is_path(name) or (path and not is_path(path)):
        return None
    wish: JsonObject = {"symbol": name, "short": short}
    return {**wish, "path": path.removeprefix("./").rstrip("/")} if path else wish


def _is_code(asked: re.Match[str], words: str) -> bool:
    name = re.escape(asked["name"])
    quoted = re.search(rf"[`\"'“]{name}|{name}\(\)", words) is not None
    return quoted or bool(group(asked, "kind")) or _CODE.search(asked["name"]) is not None


def _short(told: str) -> str:
    """The place, the signature, and where else it is."""
    first, *rest = told.split("\n\n")
    return "\n\n".join([first, *(each for each in rest if each.startswith(("```", "The name is also defined")))])
