"""A file that somebody named without its folder: looked for, and named in full if there is but one."""

import re
from dataclasses import replace

from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move

_MISSING = re.compile(r"(?P<name>[^/\n]+\.\w+) does not exist\.")
_SHOWN = 5
#: It looks for itself: what it explains need not be meant so exactly.
_OWN = "describe_file"


def placed(question: Question) -> Question | Move:
    """The question as it would be with the whole path in it, or what to do to know it."""
    returns = question.returns
    missing = _MISSING.match(returns[0].content) if returns and returns[0].status != "success" else None
    if missing is None or returns[0].tool == _OWN or "find_files" not in question.offered:
        return question
    name = missing["name"]
    written = re.compile(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])")
    if not written.search(question.asked):
        return question
    if len(returns) == 1:
        return Act([("find_files", {"pattern": f"**/{name}"})])
    if returns[1].tool != "find_files":
        return question
    lines = returns[1].content.splitlines() if returns[1].status == "success" else []
    found = [line for line in lines if line.endswith(f"/{name}")]
    if len(found) == 1:
        return replace(question, asked=written.sub(lambda _: found[0], question.asked), returns=returns[2:])
    if not found:
        return Decline(f"There is no file `{name}` in this project; nothing was changed.")
    places = ", ".join(f"`{each}`" for each in found[:_SHOWN])
    return Decline(f"Several files are named `{name}` ({places}). Say which one you mean; nothing was changed.")
