"""Runs the project's tests, all or some, and says how they went: which failed, where, and why."""

import re

from sidecar.offline.output import refused, why
from sidecar.offline.phrases import group, phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.offline.test_words import counted, told
from sidecar.wire.base import JsonObject

_ASKED = phrases(
    """
    {run} (all )?(of )?{the}({which} )?{tests}( again)?( (in|of|for|at|under|from) ((this|the|my|our) )?{target})?
    {run} (?P<file>[\\w./-]*(test|spec)[\\w./-]*\\.(py|tsx?|jsx?|mjs|go|rs)(::[\\w:\\[\\]-]+)?)
    {run} (the )?tests? (?P<name>test_\\w+|Test\\w+)
    {run} (?P<function>test_\\w+)
    test (it|everything|this|{project})
    (do|are) (all )?(the |my )?tests (pass|passing|green|ok|okay|work|working|fail|failing)( now)?
    (which|what|how many) (of the )?tests (fail|are failing|failed|pass|are broken|are red)
    (pytest|npm test|npm run test|make test|cargo test|go test|tests?|yarn test|pnpm test)
    """,
    run=r"(?:run|re-?run|execute|start|launch|do|check)",
    which=r"(?:unit|whole|full|entire|failing|project(?:'s)?|integration|python|frontend|backend)",
    tests=r"(?:tests?|test\s*suite|specs?)",
    target=r"(?:(?:file|folder|directory)\s+)?[`\"']?(?P<target>[^\s`\"']+)[`\"']?",
)
_WHOLE_PROJECT = re.compile(r"this|the|here|it|project|repo|repository|workspace|code(?:base)?|app|\.", re.IGNORECASE)


class TestRuns:
    example = "run the tests"
    tools = frozenset({"run_tests"})

    def recognise(self, question: Question) -> JsonObject | None:
        asked = understood(_ASKED, question.words)
        if asked is None:
            return None
        target = next((found for name in ("target", "file", "name", "function") if (found := group(asked, name))), "")
        if target == "file" and question.brief.current_file:
            target = question.brief.current_file
        return {"target": target} if target and not _WHOLE_PROJECT.fullmatch(target) else {}

    def next(self, wish: JsonObject, question: Question) -> Move:
        last = question.last
        if last is None or last.status == "cancelled":
            # Whoever resumes a test run that was cancelled wants to know how it ends.
            return Act([("run_tests", wish)])
        # Tests that ran and failed are an answer, too.
        if last.status == "success" or counted(last.content):
            return Say(told(last.content))
        words = f"The tests could not be run: {why(last)}"
        return Say(words) if refused(last.content) else Decline(words)
