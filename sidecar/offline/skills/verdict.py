"""The reviewer's part of a task that changed files: a verdict by rules on the lines that the task changed."""

import json
import re

from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject

_FINDING = re.compile(
    r"^- \*\*(?P<severity>error|warning|hint)\*\* `(?P<file>.+?)(?::(?P<line>\d+))?` (?P<message>.+?) Fix: (?P<fix>.+)$"
)
_MOST = 200


class ReviewVerdict:
    """It is not asked for in words: it is the reviewer's place in the pipeline, after others have worked."""

    example = "review my changes"
    tools = frozenset({"review_changes"})

    def recognise(self, question: Question) -> JsonObject | None:
        if question.agent != "reviewer" or not question.brief.follows:
            return None
        return {"paths": list(question.brief.changed_lines[:_MOST])}

    def next(self, wish: JsonObject, question: Question) -> Move:
        last = question.last
        if not wish["paths"]:
            return Decline("Nothing was changed that could be reviewed.", code="not_understood")
        if last is None:
            return Act([("review_changes", wish)])
        if last.status != "success":
            return Decline(f"The change could not be reviewed: {last.content}", code="not_understood")
        found = [match.groupdict() for line in last.content.splitlines() if (match := _FINDING.match(line))]
        issues = [{**each, "line": int(each["line"]) if each["line"] else None} for each in found]
        errors = [each for each in issues if each["severity"] == "error"]
        files = len(question.brief.changed)
        what = f"{files} changed file{'s' if files != 1 else ''}"
        if errors:
            summary = f"Reviewed {what} by rules: {len(errors)} thing{'s' if len(errors) > 1 else ''} must be mended."
        elif issues:
            summary = f"Reviewed {what} by rules: nothing is broken; worth a look:"
        else:
            summary = f"Reviewed {what} by rules: nothing wrong was found."
        return Say(json.dumps({"passed": not errors, "issues": issues, "summary": summary}, ensure_ascii=False))
