"""Runs a command that the person spelled out, between backticks or after "run"."""

import re
from collections.abc import Sequence

from sidecar.models.offline.skill import Act, Say
from sidecar.models.port import ToolReturn
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

    def recognise(self, text: str) -> JsonObject | None:
        asked = _ASKED.match(text)
        if asked is None:
            return None
        command = (asked["quoted"] or asked["plain"]).strip()
        if not command or (asked["plain"] and command.split()[0].lower() in _NO_PROGRAM):
            return None
        return {"command": command}

    def next(self, wish: JsonObject, returns: Sequence[ToolReturn]) -> Act | Say:
        if not returns:
            return Act([("run_command", wish)])
        last = returns[-1]
        # A command that ran and failed is an answer, too.
        if last.status == "success" or _ENDED.search(last.content):
            return Say(last.content)
        return Say(f"`{wish['command']}` was not carried out: {last.content}")
