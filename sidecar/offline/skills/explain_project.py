"""Describes the project, as a whole or one aspect of it."""

import re

from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import phrases
from sidecar.offline.skill import OneCall
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
#: The sections of the description that answer each kind of question.
_SECTIONS = (
    (
        ("imports",),
        phrases(
            """
            ({show})?(an? |the )?(dependency|import|module|architecture) (graph|picture|diagram|map)
            ({show})?(an? |the )?(dependency|import|module|architecture) (graph|picture|diagram|map) (of|for) {project}
            (draw|visuali[sz]e|diagram|show)( me)? the (imports|architecture|module dependencies)( of {project})?
            """
        ),
    ),
    (
        ("size", "folders", "imports"),
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
        ("entries",),
        phrases(
            """
            ((what|where|which) (are|is) |{show})?the (entry ?points?|main (function|file|entry))( of {project})?
            how (do|can|should) i (run|start|launch) (it|{project})
            where does {project} (start|begin)
            """
        ),
    ),
    (
        ("dependencies",),
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
        ("tests",),
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
        ("size", "biggest"),
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


class ExplainProject(OneCall):
    example = "what does this project do?"
    tool = "describe_project"
    tools = frozenset({"describe_project"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        if question.brief.selected_code and re.fullmatch(r"what( is|'s) this", question.words, re.IGNORECASE):
            return None
        if _WHOLE.match(question.words):
            return {}
        for sections, asked in _SECTIONS:
            if asked.match(question.words):
                return {"sections": list(sections)}
        return None
