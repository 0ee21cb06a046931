"""Lists what is in the workspace or in a folder of it."""

import re

from sidecar.offline.output import why
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject

_ASKED = re.compile(
    r"^(please\s+)?(can you\s+)?(list|show)\s+(me\s+)?(all\s+)?(of\s+)?(the\s+|my\s+)?(files|folders|directory|"
    r"directories|contents?|files and folders)(\s+(in|of|under|at|inside)\s+(the\s+|this\s+)?(folder\s+|directory\s+)?"
    r"(?P<path>[\w./@+-]+))?(\s+(folder|directory))?\s*[.!?]*$"
    r"|^(ls|dir)(\s+(?P<short>[\w./@+-]+))?$"
    r"|^what\s+(files\s+)?(is|are)\s+(in\s+)?(here|there|(this|the)\s+(folder|directory|project|workspace))\s*\??$",
    re.IGNORECASE,
)
_HERE = {"this", "the", "here", "project", "repo", "repository", "workspace", "folder", "directory", "it"}


class Listing:
    example = "list the files"
    tools = frozenset({"list_dir"})

    def recognise(self, question: Question) -> JsonObject | None:
        asked = _ASKED.match(question.words)
        if asked is None:
            return None
        path = (asked["path"] or asked["short"] or ".").rstrip(".!?") or "."
        return {"path": "." if path.lower() in _HERE else path}

    def next(self, wish: JsonObject, question: Question) -> Move:
        last = question.last
        if last is None:
            return Act([("list_dir", wish)])
        if last.status == "success":
            return Say(last.content)
        return Decline(f"{wish['path']} could not be listed: {why(last)}")
