"""Explains a symbol: signature, documentation, place, users and callees."""

import re

from sidecar.models.port import ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import group, is_path, part, phrases
from sidecar.offline.results import failure, format_place, quote_names, records, strings
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject
from tools.code.languages import language_of

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
#: People ask this about anything, so the name must look like code.
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
_EXISTS = phrases(
    """
    (is|are) there (already )?(an? |any )?{kind}((called|named) )?{name}( anywhere| in {project}| in {path})?
    do we (already )?have (an? |any )?{kind}((called|named) )?{name}( anywhere| in {project}| in {path})?
    does {kind}{name} (already )?exist( anywhere| in {project}| in {path})?
    is {kind}{name} (defined|declared)( anywhere| in {project}| in {path})
    """
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
_ELSEWHERE = 12


class ExplainSymbol:
    example = "explain `{symbol}`"
    tools = frozenset({"describe_symbol", "describe_file"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        words = question.words
        if _THIS.match(words):
            return _selected(question)
        if asked := _PLACE.match(words):
            return _arguments(asked, short=True)
        if (asked := _EXISTS.match(words)) and _is_code(asked, words):
            args = _arguments(asked, short=True)
            return {**args, "exists": True} if args is not None else None
        if asked := _EXPLAIN.match(words):
            return _arguments(asked)
        asked = _CODED.match(words)
        return _arguments(asked) if asked is not None and _is_code(asked, words) else None

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        if args.get("unselected"):
            return Decline("Nothing is selected, and no file is open. Name the function, class or file that you mean.")
        if "names" in args:
            return self._several(args, question)
        last = question.last
        if last is None:
            file = args.get("file")
            symbol = {key: value for key, value in args.items() if key in ("symbol", "path")}
            return Act([("describe_file", {"path": file})] if file else [("describe_symbol", symbol)])
        if last.code == "no_symbol" and args.get("exists"):
            return Say(failure(last))
        if last.code == "no_symbol" and len(question.returns) == 1 and str(args["symbol"]).isidentifier():
            return Act([("find_files", {"pattern": f"**/{args['symbol']}.*"})])
        if last.tool == "find_files":
            files = [path for path in strings(last, "paths") if language_of(path) is not None]
            if len(files) > 1:
                return Decline(
                    f"{failure(question.returns[0])} Files of this name are {quote_names(files)}. Say which one."
                )
            if files:
                return Act([("describe_file", {"path": files[0]})])
            last = question.returns[0]
        if last.tool == "describe_file" and last.status == "success" and args.get("short"):
            return Say(f"No symbol has this name; there is the file `{last.details['path']}`.")
        if last.status != "success":
            more = "" if args.get("file") else " The offline model only knows the code of this project."
            return Decline(f"{failure(last)}{more}")
        return Say(_describe_place(last) if args.get("short") else last.content)

    def _several(self, args: JsonObject, question: ParsedRequest) -> Move:
        """Explain what the selection defines, or else what it calls."""
        names = args["names"]
        assert isinstance(names, list)
        if not names:
            return Decline("The selection defines nothing and calls nothing by name.")
        if not question.returns:
            return Act([("describe_symbol", {"symbol": str(name)}) for name in names])
        texts = [each.content for each in question.returns if each.status == "success"]
        if not texts:
            return Decline(
                f"The project defines none of the selected names: {quote_names([str(name) for name in names])}."
            )
        return Say("\n\n---\n\n".join(texts))


def _selected(question: ParsedRequest) -> JsonObject:
    code = question.brief.selected_code or ""
    if not code.strip():
        file = question.brief.current_file
        return {"file": file} if file else {"unselected": True}
    bare = re.fullmatch(r"\s*([A-Za-z_$][\w$.]*)\s*", code)
    names = [bare[1]] if bare else _DEFINES.findall(code)
    names = names or [each for each in _CALLS.findall(code) if not _SYNTAX.fullmatch(each)]
    return {"names": list(dict.fromkeys(names))[:_MOST]}


def _arguments(asked: re.Match[str], *, short: bool = False) -> JsonObject | None:
    name, path = asked["name"], group(asked, "path")
    if _NO_NAME.fullmatch(name) or is_path(name) or (path and not is_path(path)):
        return None
    args: JsonObject = {"symbol": name, "short": short}
    return {**args, "path": path.removeprefix("./").rstrip("/")} if path else args


def _is_code(asked: re.Match[str], words: str) -> bool:
    name = re.escape(asked["name"])
    quoted = re.search(rf"[`\"'“]{name}|{name}\(\)", words) is not None
    return quoted or bool(group(asked, "kind")) or _CODE.search(asked["name"]) is not None


def _describe_place(last: ToolReturn) -> str:
    """The place and the signature, and where else the name is defined."""
    found = last.details
    lines = [f"**`{found['name']}`** is at `{format_place(found)}`."]
    lines.append(f"```{str(found.get('language', '')).lower()}\n{found['signature']}\n```")
    others = [f"`{each['name']}` ({format_place(each)})" for each in records(last, "elsewhere")[:_ELSEWHERE]]
    lines += [f"It is also defined elsewhere: {', '.join(others)}."] if others else []
    return "\n\n".join(lines)
