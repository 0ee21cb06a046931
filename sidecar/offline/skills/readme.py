"""Adds or refreshes sections of the README from the code, and leaves what a person wrote alone."""

from sidecar.offline.output import why
from sidecar.offline.phrases import group, phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.offline.wording import sent_back
from sidecar.wire.base import JsonObject

_TITLES = {
    "install": "installation",
    "setup": "installation",
    "usage": "usage",
    "command": "commands",
    "test": "tests",
    "layout": "layout",
    "structure": "layout",
    "api": "api",
    "reference": "api",
}
_ASKED = phrases(
    """
    {write}( me)?( an?| the| my| our)?( project)? readme(\\.md)?( file)?( (for|of|from) (it|the code|{project}))?
    {write}( an?| the)? {section}{part}( and (an? )?{also}{part})? (to|in|of|for) (the |my |our )?readme(\\.md)?
    document {project}
    {write}( an?| the| some)? (project )?documentation( (for|of) {project})?
    """,
    write=r"(?:write|generate|create|make|update|refresh|draft|add|improve|put|complete|fill\s+in)",
    part=r"(?:\s+(?:section|part|table|chapter|instructions?|notes?|examples?))?",
    section=r"(?P<section>installation|install|setup|usage|commands?|tests?|testing|layout|structure|api|api\s+reference|reference)",
    also=r"(?P<also>installation|install|setup|usage|commands?|tests?|testing|layout|structure|api|reference)",
)


class Readme:
    example = "update the README"
    tools = frozenset({"update_readme"})

    def recognise(self, question: Question) -> JsonObject | None:
        asked = understood(_ASKED, question.words)
        if asked is None:
            return None
        said = [group(asked, name).lower() for name in ("section", "also")]
        sections = [title for each in said if each for word, title in _TITLES.items() if each.startswith(word)]
        return {"sections": list(dict.fromkeys(sections))} if sections else {}

    def next(self, wish: JsonObject, question: Question) -> Move:
        if (declined := sent_back(question)) is not None:
            return declined
        last = question.last
        if last is None:
            return Act([("update_readme", wish)])
        return Say(last.content) if last.status == "success" else Decline(why(last))
