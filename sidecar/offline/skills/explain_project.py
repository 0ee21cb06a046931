"""Says what a project is, as a whole or one part of it: how it starts, what it depends on, where its code is."""

import re

from sidecar.offline.output import why
from sidecar.offline.phrases import phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject

_WHOLE = phrases(
    """
    what (does|do) {project} (do|contain)
    what( is|'s| are) {project}( about| for| doing| all about)?
    what( is|'s) this( about| all about)?
    what( is|'s) in (this|the|my) (project|repo|repository|code ?base|app|package|library)
    (explain|describe|summari[sz]e|introduce me to|tell me about|walk me through) {project}( to me)?
    explain( to me)? what {project} (does|is)
    how does {project} work
    ({show})?(an? )?((quick|short|brief|high[- ]level) )?(overview|summary|tour) of {project}
    ({show})?(an? )?((quick|short|brief|high[- ]level) )?(overview|tour)
    where (do|should) i start( reading)?
    """
)
#: What is asked for in particular, with the heads of the paragraphs that answer it.
_PARTS = (
    (
        ("**Imports between folders**",),
        phrases(
            """
            ({show})?(an? |the )?(dependency|import|module|architecture) (graph|picture|diagram|map)
            ({show})?(an? |the )?(dependency|import|module|architecture) (graph|picture|diagram|map) (of|for) {project}
            (draw|visuali[sz]e|diagram|show)( me)? the (imports|architecture|module dependencies)( of {project})?
            """
        ),
    ),
    (
        ("**Size**", "| folder", "**Imports between folders**"),
        phrases(
            """
            how is {project} (structured|organi[sz]ed|laid out|built up)
            ((what is|what's|describe|explain) |{show})?the (project |code )?{structure}( of {project})?
            (project|code) (structure|layout)
            what are the (main |most important )?(modules|packages|folders|parts|components)( of {project})?
            """,
            structure="(?:architecture|structure|layout|layers|organi[sz]ation)",
        ),
    ),
    (
        ("**Entry points**", "**Commands**"),
        phrases(
            """
            ((what|where|which) (are|is) |{show})?the (entry ?points?|main (function|file|entry))( of {project})?
            how (do|can|should) i (run|start|launch) (it|{project})
            where does {project} (start|begin)
            """
        ),
    ),
    (
        ("**Depends on**", "**Imports from outside**"),
        phrases(
            """
            (what|which) (dependencies|libraries|packages|frameworks) (does|do) {project} (use|have|need|depend on)
            (what|which) are the (dependencies|libraries|packages)( of {project})?
            what does {project} depend on
            {show}(all )?the (dependencies|libraries|packages)( of {project})?
            """
        ),
    ),
    (
        ("**Tests**",),
        phrases(
            """
            how (do|can|should) i (run|start|execute) the tests?( suite)?
            where are the tests
            (does {project}|do we) have (any )?tests
            are there (any )?tests( in {project})?
            """
        ),
    ),
    (
        ("**Size**", "**Biggest files**"),
        phrases(
            """
            (what|which) (programming )?languages? (is|are|does) {project} (use|written in|in|made of)
            (what|which) (programming )?languages? (is|are) (this|it|used)( written)?( in( {project})?)?
            how (big|large) is {project}
            (what|which) (is|are) the (biggest|largest|longest) files?( (in|of) {project})?
            how many (lines|files)( of code)? (does {project} have|are there|are in {project})
            """
        ),
    ),
)


class ExplainProject:
    example = "what does this project do?"
    tools = frozenset({"describe_project"})

    def recognise(self, question: Question) -> JsonObject | None:
        if question.brief.selected_code and re.fullmatch(r"what( is|'s) this", question.words, re.IGNORECASE):
            return None
        if understood(_WHOLE, question.words):
            return {"part": None}
        for number, (_, patterns) in enumerate(_PARTS):
            if understood(patterns, question.words):
                return {"part": number}
        return None

    def next(self, wish: JsonObject, question: Question) -> Move:
        last, number = question.last, wish["part"]
        if last is None:
            return Act([("describe_project", {})])
        if last.status != "success":
            return Decline(f"The project could not be described: {why(last)}")
        if not isinstance(number, int):
            return Say(last.content)
        heads, _ = _PARTS[number]
        # A picture belongs to the words above it.
        paragraphs = re.split(r"\n\n(?!```)", last.content)
        found = [each for head in heads for each in paragraphs if each.startswith(head)]
        return Say("\n\n".join(found) or last.content)
