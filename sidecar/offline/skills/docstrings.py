"""Adds skeletons of docstrings to a file, or to one function."""

import re

from sidecar.offline.definitions import defined, looked_up
from sidecar.offline.phrases import group, part, phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move
from sidecar.offline.wording import HERE, is_path, name_group, path_group, said, selected_name, sent_back
from sidecar.wire.base import JsonObject

_ASKED = phrases(
    """
    (add|write|generate|create|insert|put) {docstrings} (to|for|in|into|on) {target}
    (add|write|generate|create|insert|put) {docstrings} (to|for|in|into|on) {things} (in|of) {target}
    (?P<all>document) {things} (in|of) {target}
    document (the |my |our )?(function|method|class|file|module) {target}
    (?P<bare>document) {target}
    """,
    docstrings=part(
        "(the |all the )?(missing )?(an? )?(python )?(doc ?strings?|js ?docs?|ts ?docs?|doc(umentation)? comments?)"
        "( comments?| skeletons?)?"
    ),
    things=part(
        "((all |all of )?(the )?(public )?(functions|methods|classes|functions and classes)"
        "|(every|each) (public )?(function|method|class))"
    ),
    target=part(
        r"({here}|{this}|{kind}{path}(\(\))?( (in|of|from) (the file )?{file})?)",
        kind=part("(the )?((function|method|class|file|module) )?"),
        here=HERE,
        this=r"(?P<this>this|it|the\s+selection|(?:this|the\s+selected)\s+(?:function|class|method))",
        file=path_group("file"),
    ),
)
_NAME = re.compile(name_group("name"))
_CODE = re.compile(r"[_.$]|[a-z][A-Z]")


class Docstrings:
    example = "add docstrings to src/app.py"
    tools = frozenset({"add_docstrings", "find_symbols"})

    def recognise(self, question: Question) -> JsonObject | None:
        asked = understood(_ASKED, question.words)
        if asked is None:
            return None
        file, where = group(asked, "file").removeprefix("./"), group(asked, "path").removeprefix("./")
        open_file = question.brief.current_file or ""
        if group(asked, "here"):
            return {"path": open_file}
        if group(asked, "this"):
            return {"path": open_file, "symbol": selected_name(question) or ""}
        if group(asked, "bare") and not is_path(where) and not _CODE.search(where):
            return None  # “document the project” is no symbol's docstring
        if is_path(where):
            return {"path": where} if not file else None
        if group(asked, "all") or not _NAME.fullmatch(where) or (file and not is_path(file)):
            return None
        return {"symbol": where, **({"path": file} if file else {})}

    def next(self, wish: JsonObject, question: Question) -> Move:
        if (declined := sent_back(question)) is not None:
            return declined
        if "path" in wish and not wish["path"]:
            return Decline("No file is open. Say which one: “add docstrings to src/app.py”.")
        if wish.get("symbol") == "":
            return Decline("Nothing that has a name is selected. Say “add a docstring to `name`”.")
        last = question.last
        if last is not None and last.tool == "add_docstrings":
            return said(last)
        if "path" in wish:
            return Act([("add_docstrings", wish)])
        symbol = str(wish["symbol"])
        if last is None:
            return looked_up(symbol)
        place = defined(symbol, last)
        return place if isinstance(place, Decline) else Act([("add_docstrings", {"path": place, "symbol": symbol})])
