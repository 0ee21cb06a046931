"""Runs a command that the person spelled out, between backticks or after "run", or a script that they named."""

import re

from sidecar.offline.output import ended, refused, told
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject

_ASKED = re.compile(
    r"(?:(?:please|pls|can you|could you)\s+)*(?:run|execute)\s+(?:(?:the\s+)?command\s*:?\s*)?"
    r"(?:`(?P<quoted>[^`]+)`|(?P<plain>[\w./-]+(?:\s+\S.*)?))\s*[.!]?",
    re.IGNORECASE | re.DOTALL,
)
#: A command line as it is typed; the terminal's agent is asked for nothing else in such words.
_TYPED = re.compile(
    r"(?P<quoted>(?:npm|pnpm|yarn|bun|npx|pip3?|python3?|node|cargo|git|docker|ruff|mypy|pytest|tox|poetry|uv|tsc|eslint)\s\S.*|"
    r"go (?:build|run|test|vet|mod|fmt|get|install)\b.*|make [\w-]+)"
)
#: A file that a program reads: by its bare name the shell would not find it, and `script file` writes over it.
_SCRIPT = re.compile(
    r"(?:run|execute|start|launch)\s+(?:(?:the|my|our|this)\s+)?(?:(?:(?:python|node|shell|bash)\s+)?(?:script|file|program)\s+)?"
    r"[`\"']?(?P<path>(?!-)[\w./-]+\.(?P<suffix>py|js|mjs|cjs|sh|bash))[`\"']?",
    re.IGNORECASE,
)
_READERS = {"py": "python3", "js": "node", "mjs": "node", "cjs": "node", "sh": "sh", "bash": "bash"}
_QUOTED = re.compile(r"\s*`(?P<quoted>[^`]+)`\s*")
#: Words that begin a wish rather than a command line.
_NO_PROGRAM = re.compile(
    r"an?|all|every|everything|it|my|our|some|tests?|that|the|these|this|those|through|your|again|once|only|just|me|both|"
    r"away|for|to|with|into|from|off|out|over|in|on|and|or|like|if|when|scripts?|files?|programs?",
    re.IGNORECASE,
)


class Commands:
    example = "run `git status`"
    tools = frozenset({"run_command"})

    def recognise(self, question: Question) -> JsonObject | None:
        script = _SCRIPT.fullmatch(question.words)
        if script is not None:
            # With its place before it, a shell script says itself what reads it.
            itself = script["path"].startswith(("./", "/")) and script["suffix"].endswith("sh")
            reader = "" if itself else f"{_READERS[script['suffix'].lower()]} "
            return {"command": f"{reader}{script['path']}"}
        asked = _ASKED.fullmatch(question.asked) or _QUOTED.fullmatch(question.asked)
        if asked is None and question.agent == "terminal":
            asked = _TYPED.fullmatch(question.asked.strip())
        if asked is None:
            return None
        plain = asked.groupdict().get("plain")
        command = (asked["quoted"] or plain or "").strip()
        if not command or (plain and _NO_PROGRAM.fullmatch(command.split()[0])):
            return None
        return {"command": command}

    def next(self, wish: JsonObject, question: Question) -> Move:
        last = question.last
        if last is None:
            return Act([("run_command", wish)])
        words = told(str(wish["command"]), last)
        # A command that ran and failed is an answer, too.
        answered = last.status == "success" or ended(last.content) or refused(last.content)
        return Say(words) if answered else Decline(words)
