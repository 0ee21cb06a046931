"""Declines what takes a language model: docstrings, tests, READMEs, changelogs, named constants."""

from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import phrases
from sidecar.offline.skill import Decline, Move
from sidecar.offline.skills.help import CONFIGURE
from sidecar.wire.base import JsonObject

_PARTS = {
    "write": r"(?:write|add|create|generate|make|draft|update|refresh|improve|insert|put|produce|prepare)"
    r"(?:\s+(?:me|an?|the|my|our|some|all|more|another|one|missing|project|python))*",
    "rest": r"(?:\s.{1,200})?",
    "tests": r"(?:(?:first|simple|basic|small|regression)\s+)?(?:tests?|unit\s?tests?|test\s+cases?|specs?)",
    "docstrings": r"(?:doc\s?strings?|js\s?docs?|ts\s?docs?|doc\s+comments?|documentation)",
    "definitions": r"(?:(?:all\s+|the\s+)*(?:functions|methods|classes)|(?:every|each)\s+\w+)",
    "constant": r"an?\s+(?:new\s+)?(?:named\s+|module\s+|module-level\s+|global\s+)?(?:constant|const)",
}
_ASKED = {
    "write docstrings": phrases(
        """
        {write} {docstrings}{rest}
        document ({project}|{definitions}|[\\w./`-]*[_./`][\\w./`-]*){rest}
        """,
        **_PARTS,
    ),
    "write tests": phrases(
        """
        {write} {tests}( (for|of|to) .{1,200})?
        cover .{1,200} with ((an?|some) )?{tests}
        """,
        **_PARTS,
    ),
    "write READMEs": phrases(
        """
        {write} readme(\\.md)?( file)?( (for|of|from) .{1,200})?
        {write} [\\w -]{1,60} (to|in|of|for) (the |my |our )?readme(\\.md)?
        """,
        **_PARTS,
    ),
    "write changelogs": phrases(
        "({write} )?(change[ -]?log(\\.md)?|release notes)( (since|from|for|of|out of|after) .{1,200})?", **_PARTS
    ),
    "extract constants": phrases(
        """
        (extract|pull out|pull|move|lift|hoist|turn|make|convert|replace) .{1,200} {constant}{rest}
        (introduce|add|create|define) {constant} .{1,200} for .{1,200}
        """,
        **_PARTS,
    ),
}


class Writing:
    example = ""
    tools: frozenset[str] = frozenset()

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        found = next((task for task, asked in _ASKED.items() if asked.match(question.words)), None)
        return None if found is None else {"task": found}

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        return Decline(f"The offline model can't {args['task']}. {CONFIGURE}", code="not_understood")
