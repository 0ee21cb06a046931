"""Gives a literal a name at the top of its file."""

import re

from sidecar.offline.phrases import group, part, phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move
from sidecar.offline.wording import HERE, is_path, said, sent_back
from sidecar.wire.base import JsonObject

_NUMBER = r"-?\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?"
_ASKED = phrases(
    """
    (extract|pull out|pull|move|lift|hoist) {what}{places} (in)?to {constant}( {called})?{all}
    (turn|make|convert|replace) {what}{places}( into| to| with| by)? {constant}( {called})?{all}
    (introduce|add|create|define) {constant} {called} for {what}{places}{all}
    """,
    what=part(
        "(the )?(magic )?((literal|value|number|string|constant) )?({this}|{literal}|{there})",
        this=r"(?P<this>this(?:\s+(?:literal|value|number|string))?|it|the\s+selection)",
        literal=rf"(?:`(?P<ticked>[^`]+)`|(?P<value>{_NUMBER}|\"[^\"]*\"|'[^']*')|“(?P<curly>[^”]+)”)",
        there=r"(?:(?:literal|value|number|string)(?=\s+(?:at|in|on)\s))",
    ),
    places=part(
        "( (in|inside|from|of) (the )?(function|method) {function})?"
        "( (in|from|of|at|on) ({here}|(the )?(file )?{path}))?(,? (at |on |in )?line {line})?",
        function=r"`?(?P<function>[\w$]+)`?(?:\(\))?",
        here=HERE,
        line=r"(?P<line>\d+)",
    ),
    constant=part("((an?|the) )?(new )?(named |module |module-level |global )?(constant|const)"),
    called=part("((called|named|with the name|as) )?{word}", word=r"[`\"'“]?(?P<name>[A-Za-z_$][\w$]*)[`\"'”]?"),
    all=part("(,? (everywhere|in the whole file))?"),
)


class Constants:
    example = "extract 86400 in src/app.py into a constant SECONDS_PER_DAY"
    tools = frozenset({"extract_constant"})

    def recognise(self, question: Question) -> JsonObject | None:
        asked = understood(_ASKED, question.words)
        if asked is None:
            return None
        curly = group(asked, "curly")
        value = group(asked, "ticked") or group(asked, "value") or (f'"{curly}"' if curly else "")
        if group(asked, "this"):
            value = (question.brief.selected_code or "").strip()
            if not value:
                return {"unselected": True}
        where, function = group(asked, "path"), group(asked, "function")
        if where and not is_path(where):
            if function or not re.fullmatch(r"[\w$]+", where):
                return None
            where, function = "", where
        path = (where or question.brief.current_file or "").removeprefix("./")
        args: JsonObject = {"path": path, "name": group(asked, "name")}
        args |= {"value": value} if value else {}
        args |= {"function": function} if function else {}
        line = group(asked, "line") or group(asked, "path_line")
        return args | ({"line": int(line)} if line else {})

    def next(self, wish: JsonObject, question: Question) -> Move:
        if (declined := sent_back(question)) is not None:
            return declined
        if wish.get("unselected"):
            return Decline("Nothing is selected. Say “extract 86400 in src/app.py into a constant SECONDS_PER_DAY”.")
        if not wish["name"]:
            return Decline("Say what the constant is to be called: “extract 86400 in src/app.py into a constant NAME”.")
        if not wish["path"]:
            return Decline("Say in which file: “extract 86400 in src/app.py into a constant NAME”.")
        last = question.last
        return Act([("extract_constant", wish)]) if last is None else said(last)
