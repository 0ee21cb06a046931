"""Explains some lines of a file, and counts the lines of a file or a symbol."""

import re

from sidecar.models.port import ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import group, is_path, name_group, part, phrases, this_file
from sidecar.offline.results import failure, records
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject
from sidecar.wire.text import plural

_ASK = part("(explain|describe|summari[sz]e|tell me about|show( me)?|walk me through)( to me)?|what (is|does|do|are)")
_LINES = r"lines?\s+(?P<first>\d+)(?:\s*(?:-|–|to|until|through|and)\s*(?P<last>\d+))?"
_RANGE = phrases(
    """
    {ask} (the )?((code|lines?) (in|of|at) )?{path}{after}
    {ask} (the )?{lines} (of|in|from) (the file )?{path}{after}
    {ask} {path},? {lines}{after}
    {ask} (the )?{lines}( (of|in|from) (?P<here>this file|the (current|open) file))?{after}
    """,
    ask=_ASK,
    lines=_LINES,
    after=part("( (do|does|about|for|here))?"),
)
_COUNT = phrases(
    """
    {how_many} (the )?(file |folder )?{path}{have}
    how (long|big|large) is (the )?(file |folder )?{path}
    (count|number of|count the number of)( the)?( lines| lines of code) (in|of) (the )?(file |folder )?{path}
    {how_many} {kind}{symbol}{have}
    how long is {kind}{symbol}
    {how_many} (?P<here>this file|the (current|open) file){have}
    """,
    symbol=name_group("symbol"),
    how_many=part("how many lines( of code)? (does|do|has|have|are|is|are there)( in)?"),
    have=part("( (have|has|contain|contains|long))?"),
)
_SHOWN = 120
_DESCRIBED = 2


class ExplainLines:
    example = "explain {file}:1-20"
    tools = frozenset({"read_file", "analyze_code", "describe_symbol"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        asked = _RANGE.match(question.words)
        if asked is None:
            return None
        first = group(asked, "first") or group(asked, "path_line")
        path = group(asked, "path") or (question.brief.current_file or "")
        if not first or not is_path(path):
            return None
        last = group(asked, "last") or group(asked, "path_end") or first
        start, end = sorted((max(int(first), 1), max(int(last), 1)))
        return {"path": path.removeprefix("./"), "startLine": start, "endLine": end}

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        path, returns = str(args["path"]), question.returns
        if not returns:
            return Act([("read_file", args), ("analyze_code", {"path": path})])
        text = returns[0]
        if text.status != "success":
            return Decline(f"These lines can't be shown: {failure(text)}")
        symbols = _symbols_in(returns[1], args) if len(returns) > 1 and returns[1].status == "success" else []
        described = [each for each in symbols if each["kind"] not in ("variable", "constant", "attribute")]
        if len(returns) == 2 and described:
            calls: list[tuple[str, JsonObject]] = [
                ("describe_symbol", {"symbol": _full_name(each), "path": path}) for each in described[:_DESCRIBED]
            ]
            return Act(calls)
        return Say(_render(path, text, symbols, [each.content for each in returns[2:] if each.status == "success"]))


def _symbols_in(outline: ToolReturn, args: JsonObject) -> list[JsonObject]:
    """The innermost definition that begins before these lines, and those that begin in them."""
    first, last = int(str(args["startLine"])), int(str(args["endLine"]))
    every = [each for each in records(outline, "symbols") if _start(each) <= last and _end(each) >= first]
    begun = [each for each in every if _start(each) >= first]
    # A function that goes on behind these lines counts; what is nested in it is part of it.
    names = {_full_name(each) for each in begun}
    outer = [each for each in begun if str(each.get("parent") or "") not in names]
    around = sorted((each for each in every if _start(each) < first), key=_start)
    return [*around[-1:], *outer]


def _start(symbol: JsonObject) -> int:
    return int(str(symbol["line"]))


def _end(symbol: JsonObject) -> int:
    return int(str(symbol["endLine"]))


def _full_name(symbol: JsonObject) -> str:
    return f"{symbol['parent']}.{symbol['name']}" if symbol.get("parent") else str(symbol["name"])


def _render(path: str, text: ToolReturn, symbols: list[JsonObject], described: list[str]) -> str:
    first, last = int(str(text.details["startLine"])), int(str(text.details["endLine"]))
    shown = text.content.splitlines()
    more = f"\n… {plural(len(shown) - _SHOWN, 'more line')}" if len(shown) > _SHOWN else ""
    head = f"Line {first}" if first == last else f"Lines {first}–{last}"
    parts = [f"{head} of `{path}`:", "\n".join(["````", *shown[:_SHOWN], "````"]) + more]
    named = []
    for each in symbols:
        whole = "" if _start(each) >= first and _end(each) <= last else "part of "
        named.append(f"{whole}`{_full_name(each)}` ({each['kind']}, lines {_start(each)}–{_end(each)})")
    parts.append(f"They hold {', '.join(named)}." if named else "They define no function and no class.")
    return "\n\n".join([*parts, *described])


class CountLines:
    example = "how many lines does {file} have?"
    tools = frozenset({"read_file", "describe_file", "describe_symbol"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        asked = _COUNT.match(question.words)
        if asked is None:
            return None
        if group(asked, "here"):
            file = question.brief.current_file
            return {"path": file} if file else {"unopened": True}
        path, symbol = group(asked, "path"), group(asked, "symbol")
        if path and is_path(path) and not this_file(path):
            return {"path": path.removeprefix("./").rstrip("/")}
        name = symbol or path
        return {"symbol": name} if re.search(r"[_.]|[a-z][A-Z]|`|^[A-Z]", f"{name}{question.words}") else None

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        last, path = question.last, str(args.get("path", ""))
        if args.get("unopened"):
            return Decline("No file is open. Name the file whose lines you want counted.")
        if last is None:
            return Act([("read_file", {"path": path, "endLine": 1}) if path else ("describe_symbol", args)])
        if last.tool == "read_file" and last.status != "success" and last.code == "not_a_file":
            return Act([("describe_file", {"path": path})])
        if last.status != "success":
            return Decline(failure(last))
        if last.tool == "describe_file":
            return Say(last.content.partition("\n")[0])
        if last.tool == "describe_symbol":
            count = int(str(last.details["endLine"])) - int(str(last.details["line"])) + 1
            place = f"{last.details['path']}:{last.details['line']}"
            return Say(f"`{last.details['name']}` (`{place}`) has {plural(count, 'line')}.")
        total = last.details.get("totalLines")
        if not isinstance(total, int):
            return Decline(f"`{path}` is too large to count here; `wc -l {path}` counts its lines.")
        return Say(f"`{path}` has {plural(total, 'line')}.")
