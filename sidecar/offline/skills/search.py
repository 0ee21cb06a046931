"""Searches the workspace for text or meaning, and lists folders."""

import re

from sidecar.models.port import ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import group, phrases
from sidecar.offline.results import format_place, records
from sidecar.offline.skill import OneCall
from sidecar.wire.base import JsonObject
from sidecar.wire.text import bulleted, plural

_SEARCH = re.compile(
    r"^(please\s+)?(can you\s+)?(search|grep|look|find)\s+(the\s+(code|project|repo|repository|workspace|files)\s+)?"
    r"(all\s+)?(for\s+|uses\s+of\s+|usages\s+of\s+|occurrences\s+of\s+|mentions\s+of\s+)?"
    r"(the\s+(text|word|string)\s+)?(?P<quote>[\"'`“]?)(?P<query>.+?)[\"'`”]?"
    r"(\s+in\s+(?P<path>[\w./-]*[/.][\w./-]*|this\s+\w+|the\s+(code|project|repo|repository|workspace|files)))?\s*[?!]*$",
    re.IGNORECASE,
)
#: Searches of the web, and for bugs, which a review finds.
_ELSEWHERE = re.compile(
    r"^(?:an?\s+(?:bug|error|mistake)s?|bugs|(?:on\s+|in\s+)?(?:the\s+)?(?:web|internet|net|google)\b)", re.I
)
_TODOS = phrases(
    """
    ({find} )?(all |any |every )?(of )?((the|our|my) )?(open )?{todos}( (in|of|from|under) ({project}|{path}))?
    (are there|do we have|what are) (any |all )?((the|our) )?(open )?{todos}( (in|of|from) ({project}|{path}))?
    (what|which) (open )?{todos} (are there|are left|do we have)( in ({project}|{path}))?
    where are (all )?((the|our) )?{todos}( in ({project}|{path}))?
    """,
    find=r"(?:find|list|show(?:\s+me)?|get|search(?:\s+for)?|look\s+for|give\s+me|check\s+for)",
    todos=(
        r"(?P<marks>(?:to-?dos|fixmes|hacks|xxxs?|open\s+tasks|(?:to-?do|fixme|hack|xxx)\s+(?:comments?|notes?|items?))"
        r"(?:\s+(?:and|or)\s+(?:to-?dos|fixmes|hacks|xxxs?))*)"
    ),
)
_MARKS = ("TODO", "FIXME", "XXX", "HACK")
_MOST, _SHOWN, _WIDTH = 500, 100, 160
_LIST = re.compile(
    r"^(please\s+)?(can you\s+)?(list|show)\s+(me\s+)?(all\s+)?(of\s+)?(the\s+|my\s+)?(files|folders|directory|"
    r"directories|contents?|files and folders)(\s+(in|of|under|at|inside)\s+(the\s+|this\s+)?(folder\s+|directory\s+)?"
    r"(?P<path>[\w./@+-]+))?(\s+(folder|directory))?\s*[.!?]*$"
    r"|^(ls|dir)(\s+(?P<short>[\w./@+-]+))?$"
    r"|^what\s+(files\s+)?(is|are)\s+(in\s+)?(here|there|(this|the)\s+(folder|directory|project|workspace))\s*\??$",
    re.IGNORECASE,
)
_HERE = {"this", "the", "here", "project", "repo", "repository", "workspace", "folder", "directory", "it"}


class SearchText(OneCall):
    example = 'search for "TODO"'
    tool = "search_code"
    tools = frozenset({"search_code"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        asked = _SEARCH.match(question.words)
        if asked is None or "\n" in question.asked or (not asked["quote"] and _ELSEWHERE.match(asked["query"])):
            return None
        args: JsonObject = {"query": asked["query"]}
        path = asked["path"]
        return {**args, "path": path} if path and not path.lower().startswith(("this ", "the ")) else args

    def answer(self, args: JsonObject, last: ToolReturn) -> str:
        where = f" in `{args['path']}`" if "path" in args else ""
        found = records(last, "matches")
        if not found:
            return f"No matches for “{args['query']}”{where}."
        return "\n".join(f"{format_place(each)}: {str(each['text']).strip()[:_WIDTH]}" for each in found)


class Todos(OneCall):
    example = "find all TODOs"
    tool = "search_code"
    tools = frozenset({"search_code"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        asked = _TODOS.match(question.words)
        if asked is None:
            return None
        path = group(asked, "path").removeprefix("./")
        words = group(asked, "marks").upper().replace("-", "")
        # A question about TODOs means all such notes.
        marks = _MARKS if "TODO" in words else [mark for mark in _MARKS if mark in words] or _MARKS
        # Not a name: `context.TODO()` is no note.
        query = rf"(?:^|[^.\w])({'|'.join(marks)})\b"
        args: JsonObject = {"query": query, "regex": True, "maxResults": _MOST}
        return {**args, "path": path} if path else args

    def answer(self, args: JsonObject, last: ToolReturn) -> str:
        found = records(last, "matches")
        where = f" in `{args['path']}`" if "path" in args else ""
        if not found:
            return f"No line{where} holds {_marks_of(args)}."
        files = len({str(each["path"]) for each in found})
        at_least = "At least " if len(found) == _MOST else ""
        holding = "holds" if len(found) == 1 else "hold"
        head = f"{at_least}{plural(len(found), 'line')} in {plural(files, 'file')}{where} {holding} {_marks_of(args)}:"
        lines = [f"`{format_place(each)}` {str(each['text']).strip()[:_WIDTH]}" for each in found]
        return "\n".join([head, "", *bulleted(lines, _SHOWN)])


def _marks_of(args: JsonObject) -> str:
    names = [mark for mark in _MARKS if mark in str(args["query"])]
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


class ListFiles(OneCall):
    example = "list the files"
    tool = "list_dir"
    tools = frozenset({"list_dir"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        asked = _LIST.match(question.words)
        if asked is None:
            return None
        path = (asked["path"] or asked["short"] or ".").rstrip(".!?") or "."
        return {"path": "." if path.lower() in _HERE else path}


_WHERE = re.compile(
    r"^(?:please\s+)?(?:(?:can|could)\s+you\s+)?(?:tell\s+me\s+|show\s+me\s+|find\s+out\s+)?(?:"
    r"where(?:\s+(?:in\s+(?:the|this|our)\s+(?:code|project|repo|repository)))?\s+(?:is|are|do|does|did|can|would|should|"
    r"we|the)\b.+"
    r"|which\s+(?:file|function|class|method|code|part)s?\s+.+"
    r"|(?:find|show\s+me)\s+(?:the\s+)?(?:code|function|place|method|class)s?\s+(?:that|which|where)\s+.+"
    r")$",
    re.IGNORECASE | re.DOTALL,
)
#: Questions about people, not about code.
_PERSONAL = re.compile(r"\b(?:my|mine|your|yours|you|am\s+i|i\s+am)\b", re.IGNORECASE)
_LONGEST = 300
_MOST_PLACES = 6


class FindPlace(OneCall):
    example = "where are expired sessions removed?"
    tool = "find_code"
    tools = frozenset({"find_code"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        words = question.words.strip()
        if len(words) > _LONGEST or _WHERE.match(words) is None or _PERSONAL.search(words):
            return None
        return {"query": words.rstrip(" ?!."), "limit": _MOST_PLACES}

    def answer(self, args: JsonObject, last: ToolReturn) -> str:
        found = records(last, "hits")
        if not found:
            return last.content
        lines = [f"- `{each['path']}:{each['line']}` {each['kind']} {each['symbol']}".rstrip() for each in found]
        return "\n".join(["The best matches in this workspace:", "", *lines])
