"""Writes a changelog from the commits."""

from sidecar.offline.output import why
from sidecar.offline.phrases import group, phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.offline.skills.history import since_of
from sidecar.offline.wording import sent_back
from sidecar.wire.base import JsonObject

_ASKED = phrases(
    """
    {write}( me)?( an?| the| my| our)? {log}( (from|out of) (the |my |our )?(git )?(commits?|history|log))?{since}
    (change-?log|release notes)( since (?P<after>.{2,60}))?
    {write}( me)?( an?| the| my| our)? {log} (for|of) (the )?(changes?|commits?)( since (?P<later>.{2,60}))?
    """,
    write=r"(?:write|generate|create|make|update|refresh|draft|add\s+to|produce|build|prepare)",
    log=r"(?:change[\s-]?log(?:\.md)?|release\s+notes|list\s+of\s+changes)",
    since=r"(?:\s+(?:since|from|after)\s+(?P<since>.{2,60}))?",
)


class Changelog:
    example = "write a changelog"
    tools = frozenset({"update_changelog"})

    def recognise(self, question: Question) -> JsonObject | None:
        asked = understood(_ASKED, question.words)
        if asked is None:
            return None
        since = next((found for name in ("since", "later", "after") if (found := group(asked, name))), "")
        start = since_of(since) if since else ""
        if since and not start:
            return None
        return {"since": start} if start else {}

    def next(self, wish: JsonObject, question: Question) -> Move:
        if (declined := sent_back(question)) is not None:
            return declined
        last = question.last
        if last is None:
            return Act([("update_changelog", wish)])
        return Say(last.content) if last.status == "success" else Decline(why(last))
