"""Answers which tests reach a file."""

from sidecar.models.port import ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import group, phrases
from sidecar.offline.results import format_place, records
from sidecar.offline.skill import OneCall
from sidecar.offline.skills.usages import CHANGE, FILE
from sidecar.wire.base import JsonObject

_ASKED = phrases(
    """
    (which|what) tests? (cover|test|reach|call|use|exercise|check)s? (the (file|module) )?{file}
    (which|what) tests? (should|must|do) i run (if|when|after) (i )?{change} (the (file|module) )?{file}
    (show( me)?|list|find)( me)?( all)?( the)? tests? (of|for) (the (file|module) )?{file}
    (is|are) (the (file|module) )?{file} (tested|covered( by (the )?tests?)?)
    """,
    file=FILE,
    change=CHANGE,
)
_SHOWN = 20


class CoveringTests(OneCall):
    example = "which tests cover {file}?"
    tool = "tests_of"
    tools = frozenset({"tests_of"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        asked = _ASKED.match(question.words)
        return {"path": group(asked, "file").removeprefix("./")} if asked is not None else None

    def answer(self, args: JsonObject, last: ToolReturn) -> str:
        found = records(last, "hits")
        if not found:
            return last.content
        lines = [f"- `{format_place(each)}` {each['via']}" for each in found[:_SHOWN]]
        more = [f"- … {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
        return "\n".join([f"These tests reach `{args['path']}`, the nearest first:", "", *lines, *more])
