"""Runs the project's tests and says how they went."""

import re

from sidecar.models.offline.question import Question
from sidecar.models.offline.skill import Act, Move, Say
from sidecar.wire.base import JsonObject

_ASKED = re.compile(
    r"^(please\s+)?(can you\s+)?(run|execute|start|launch|do|check)\s+(all\s+)?(of\s+)?(the\s+|my\s+|our\s+)?"
    r"(unit\s+|whole\s+|full\s+|entire\s+)?(tests?|test\s*suite|specs?)(\s+(in|of|for|at|under)\s+((this|the|my|our)\s+)?"
    r"(?P<target>\S+))?"
    r"(\s+please)?\s*[.!?]*$",
    re.IGNORECASE,
)
_SHORT = re.compile(r"^(pytest|npm test|make test|cargo test|go test|tests?)\s*[.!]*$", re.IGNORECASE)
_COUNTED = re.compile(r"\w+: (\d+ passed|no tests were found)")
_WHOLE_PROJECT = {"this", "the", "here", "it", "project", "repo", "repository", "workspace", "."}


class TestRuns:
    example = "run the tests"
    tools = frozenset({"run_tests"})

    def recognise(self, question: Question) -> JsonObject | None:
        if _SHORT.match(question.words):
            return {}
        asked = _ASKED.match(question.words)
        if asked is None:
            return None
        target = (asked["target"] or "").rstrip(".!?")
        return {"target": target} if target and target.lower() not in _WHOLE_PROJECT else {}

    def next(self, wish: JsonObject, question: Question) -> Move:
        last = question.last
        if last is None:
            return Act([("run_tests", wish)])
        # Tests that ran and failed are an answer, too.
        if last.status == "success" or _COUNTED.match(last.content):
            return Say(last.content)
        return Say(f"The tests could not be run: {last.content}")
