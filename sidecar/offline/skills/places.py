"""Finds the place in the code that a question describes in plain words: “where are sessions saved?”."""

import re
from collections.abc import Sequence
from itertools import permutations

from sidecar.models.port import ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import phrases
from sidecar.offline.results import LONGEST, failure, format_place, quote_names, records
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject
from sidecar.wire.text import bulleted
from tools.code.languages import language_of
from tools.test_files import is_test

_WHERE = phrases(
    """
    ({find} )?where (?P<words>.{3,150})
    {find} (the )?{place} (that|which|where|for|to) (?P<words>.{3,150})
    (which|what) {place} (is |are )?(?P<words>.{3,150})
    """,
    find=r"(?:find|show(?:\s+me)?|tell\s+me|locate|look\s+for|search\s+for|point\s+me\s+to)",
    place=r"(?:code|places?|functions?|methods?|class(?:es)?|parts?|files?|spots?|lines?|modules?)",
)
_WORD = re.compile(r"[^\W\d_][\w$]*")
#: Words that name nothing in the code.
_SMALL = re.compile(
    r"an?|the|th(?:is|at|ese|ose)|my|our|your|its?|i|you|we|they|it|is|are|was|were|be|been|being|do|does|did|can|could|"
    r"would|will|should|must|to|of|in|on|at|for|with|and|or|by|from|into|about|as|here|there|project|code|repo|app|"
    r"actually|exactly|really|currently|all|any|every|gets?|got",
    re.IGNORECASE,
)
#: What is yours is not in the code.
_YOURS = re.compile(r"\b(?:my|mine|me)\b", re.IGNORECASE)
#: Verbs that say only that something happens there.
_VAGUE = re.compile(
    r"(?:us(?:e|es|ed|ing)|happens?|handl(?:e|es|ed|ing)|done|defin(?:e|es|ed)|implement(?:s|ed)?|located|mad|made|called|"
    r"lives?|comes?|coming|goes|kept|works?|takes?|place|responsible)",
    re.IGNORECASE,
)
_ENDING = re.compile(r"(?:ing|ies|ied|ed|es|s|e|y)$")
#: “formatted” comes from “format”.
_DOUBLED = re.compile(r"(\w{2,}?([bdfgmnprt]))\2(?:ed|ing)$")
#: What else the same thing is called in code.
_SYNONYMS = (
    ("sav", "stor", "persist", "writ", "dump"),
    ("load", "read", "open", "fetch"),
    ("delet", "remov", "clear", "drop"),
    ("creat", "mak", "build", "new", "init"),
    ("check", "valid", "verif", "ensur"),
    ("send", "emit", "dispatch", "post"),
    ("configur", "config", "setting", "option"),
    ("start", "launch", "run", "main", "boot"),
    ("authenticat", "auth", "login", "signin"),
    ("pars", "decod", "tokeniz"),
    ("render", "draw", "format", "display"),
)
_DEFINES = re.compile(
    r"^\s*(?:export\s+|default\s+|pub(?:lic)?\s+|private\s+|protected\s+|static\s+|abstract\s+|async\s+)*"
    r"(?:(?:def|class|function\*?|func|fn|interface|type|struct|enum|trait|const|let)\s+(?:\([^()]*\)\s*)?([\w$]+)"
    r"|(?!if|for|while|switch|catch|function|return)([\w$]+)\s*\([^()]*\)\s*\{\s*$)"
)
#: “Which functions are longest?” asks for a comparison and not for a place.
_SUPERLATIVE = re.compile(
    r"(?:long|larg|bigg|small|short|simpl|fast|slow|old|new|b|worst|hard|deep)e?st|most|least|complex", re.I
)
_MOST_WORDS, _MOST, _SHOWN, _WIDTH, _NEAREST = 3, 2_000, 12, 140, 6


class Places:
    example = ""
    tools = frozenset({"search_code"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        asked = _WHERE.match(question.words)
        if asked is None or "`" in asked["words"] or "\n" in question.asked or _YOURS.search(asked["words"]):
            return None
        words = [word for word in _WORD.findall(asked["words"]) if not _SMALL.fullmatch(word)]
        clear = [word for word in words if not _VAGUE.fullmatch(word)]
        if clear and all(_SUPERLATIVE.fullmatch(word) for word in clear):
            return {"compare": True}
        return {"words": list(dict.fromkeys(clear or words))[:_MOST_WORDS]} if clear else None

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        if args.get("compare"):
            return Decline("The offline model compares files only: “what are the largest files?”", "not_understood")
        words = [str(word) for word in args["words"]] if isinstance(args["words"], list) else []
        returns = question.returns
        if returns and returns[-1].status != "success" and returns[-1].tool == "search_code":
            return Decline(failure(returns[-1]))
        searches = [each for each in returns if each.tool == "search_code"]
        for found in searches:
            paths = [str(each["path"]) for each in records(found, "matches")]
            # Other words come before tests that name these.
            if any(language_of(path) and (found is not searches[0] or not is_test(path)) for path in paths):
                return Say(_render(words, records(found, "matches"), other=found is not searches[0]))
        if len(searches) < 2:
            return Act([("search_code", _query(words, synonyms=bool(searches)))])
        if len(returns) == 2 and "find_code" in question.offered:
            return Act([("find_code", {"query": " ".join(words), "limit": _NEAREST})])
        for found in searches:
            if lines := records(found, "matches"):
                near = _nearest(returns[2:])
                return Say(_render(words, lines, other=found is not searches[0]) + (f"\n\n{near}" if near else ""))
        near = _nearest(returns[2:])
        said = " and ".join(f"“{word}”" for word in words)
        together = " together" if len(words) > 1 else ""
        return Say(
            f"Unknown: no line of this project names {said}{together}. The offline model matches words as they are "
            "written; the code may use others." + (f"\n\n{near}" if near else "")
        )


def _nearest(returns: Sequence[ToolReturn]) -> str:
    """What the index ranks first."""
    found = [hit for back in returns for hit in records(back, "hits")]
    lines = [f"- `{format_place(each)}` {each['kind']} {each.get('symbol') or ''}".rstrip() for each in found]
    return "\n".join(["The nearest that the index finds:", "", *lines]) if lines else ""


def _query(words: list[str], *, synonyms: bool) -> JsonObject:
    """A pattern for lines that name all of the words, in any order."""
    stems = [_alternatives(_stem(word)) if synonyms else re.escape(_stem(word)) for word in words]
    orders = permutations(stems) if len(stems) > 1 else [tuple(stems)]
    query = "|".join(".*".join(order) for order in orders)
    return {"query": query, "regex": True, "caseSensitive": False, "maxResults": _MOST}


def _stem(word: str) -> str:
    low = word.lower()
    if doubled := _DOUBLED.match(low):
        return doubled[1]
    return _ENDING.sub("", low) if len(low) > 4 else re.sub(r"[es]$", "", low) if len(low) == 4 else low


def _alternatives(stem: str) -> str:
    row = next((row for row in _SYNONYMS if any(stem.startswith(each) or each == stem for each in row)), (stem,))
    return f"(?:{'|'.join(map(re.escape, row))})"


def _render(words: list[str], lines: list[JsonObject], *, other: bool) -> str:
    stems = [_stem(word) for word in words]
    ranked = sorted(lines, key=lambda each: _rank(each, stems))
    code = [each for each in ranked if language_of(str(each["path"])) is not None] or ranked
    shown = [f"`{format_place(each)}` `{_shorten(str(each['text']))}`" for each in code]
    named = quote_names(words).replace("`, `", "` and `")
    as_written = ", or words that mean the same" if other else ""
    first = "; definitions come first" if _DEFINES.match(str(code[0]["text"])) else ""
    head = f"These lines name {named}{as_written}{first}:"
    return "\n".join([head, "", *bulleted(shown, _SHOWN)])


def _rank(line: JsonObject, stems: list[str]) -> tuple[object, ...]:
    path, text = str(line["path"]), str(line["text"])
    names = re.findall(r"[\w$]+", text.lower())
    one_name = any(all(stem in name for stem in stems) for name in names)
    defined = _DEFINES.match(text)
    name = (defined[1] or defined[2]).lower() if defined is not None else ""
    comment = text.lstrip().startswith(("#", "//", "*", "--", '"""'))
    known = language_of(path) is not None
    return (
        not known,
        len(text) > LONGEST,
        is_test(path),
        not name or not all(stem in name for stem in stems),
        not name or not one_name,
        comment,
        not one_name,
        path,
        line["line"],
    )


def _shorten(text: str) -> str:
    bare = " ".join(text.split()).replace("`", "'")
    return bare if len(bare) <= _WIDTH else f"{bare[:_WIDTH]}…"
