"""Searches the workspace for a text."""

import re

from sidecar.offline.output import why
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject

_ASKED = re.compile(
    r"^(please\s+)?(can you\s+)?(search|grep|look|find)\s+(the\s+(code|project|repo|repository|workspace|files)\s+)?"
    r"(all\s+)?(for\s+|uses\s+of\s+|usages\s+of\s+|occurrences\s+of\s+|mentions\s+of\s+)?"
    r"(the\s+(text|word|string)\s+)?(?P<quote>[\"'`“]?)(?P<query>.+?)[\"'`”]?"
    r"(\s+in\s+(?P<path>[\w./-]*[/.][\w./-]*|this\s+\w+|the\s+(code|project|repo|repository|workspace|files)))?\s*[?!]*$",
    re.IGNORECASE,
)
#: Not in the workspace: what is looked for out there, and faults, which a review finds.
_ELSEWHERE = re.compile(
    r"^(?:an?\s+(?:bug|error|mistake)s?|bugs|(?:on\s+|in\s+)?(?:the\s+)?(?:web|internet|net|google)\b)", re.I
)


class Search:
    example = 'search for "TODO"'
    tools = frozenset({"search_code"})

    def recognise(self, question: Question) -> JsonObject | None:
        asked = _ASKED.match(question.words)
        if asked is None or "\n" in question.asked or (not asked["quote"] and _ELSEWHERE.match(asked["query"])):
            return None
        wish: JsonObject = {"query": asked["query"]}
        path = asked["path"]
        if path and not path.lower().startswith(("this ", "the ")):
            wish["path"] = path
        return wish

    def next(self, wish: JsonObject, question: Question) -> Move:
        last = question.last
        if last is None:
            return Act([("search_code", wish)])
        if last.status == "success":
            where = f" in `{wish['path']}`" if "path" in wish else ""
            nothing = f"Nothing{where} holds “{wish['query']}”."
            return Say(nothing if last.content.startswith("No match for") else last.content)
        return Decline(f"The search did not work: {why(last)}")
