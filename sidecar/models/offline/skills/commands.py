"""Runs a command that the person spelled out, between backticks or after "run"."""

import re

from sidecar.models.offline.question import Question
from sidecar.models.offline.skill import Act, Move, Say
from sidecar.wire.base import JsonObject

_ASKED = re.compile(
    r"^(please\s+)?(run|execute)\s+(the\s+)?(command\s*:?\s*)?(`(?P<quoted>[^`]+)`|(?P<plain>[\w./-]+(\s+\S.*)?))\s*$",
    re.IGNORECASE | re.DOTALL,
)
#: Words that begin a wish rather than a command line.
_NO_PROGRAM = frozenset(
    [
        "a",
        "all",
        "an",
        "every",
        "it",
        "my",
        "our",
        "some",
        "test",
        "tests",
        "that",
        "the",
        "these",
        "this",
        "those",
        "through",
        "your",
    ]
)
_ENDED = re.compile(r"\((exit code \d+|ended by signal \d+)\)\s*$")


class Commands:
    example = "run `git status`"
    tools = frozenset({"run_command"})

    def recognise(self, question: Question) -> JsonObject | None:
        asked = _ASKED.match(question.asked)
        if asked is None:
            return None
        command = (asked["quoted"] or asked["plain"]).strip()
        if not command or (asked["plain"] and command.split()[0].lower() in _NO_PROGRAM):
            return None
        return {"command": command}

    def next(self, wish: JsonObject, question: Question) -> Move:
        last = question.last
        if last is None:
            return Act([("run_command", wish)])
        # A command that ran and failed is an answer, too.
        if last.status == "success" or _ENDED.search(last.content):
            return Say(last.content)
        return Say(f"`{wish['command']}` was not carried out: {last.content}")
