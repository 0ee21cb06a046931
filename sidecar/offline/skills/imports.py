"""Removes unused imports, sorts them, or both."""

import re

from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move
from sidecar.offline.wording import is_path, path_group, said, sent_back
from sidecar.wire.base import JsonObject

_UNUSED = r"(?:(?:all\s+)?(?:of\s+)?(?:the\s+|my\s+|any\s+)?(?:unused|unneeded|unnecessary|dead|useless)\s+imports?)"
_IMPORTS = r"(?:(?:all\s+)?(?:of\s+)?(?:the\s+|my\s+)?imports?(?:\s+statements?)?)"
_REMOVE = rf"(?:remove|delete|drop|clean\s*up|clean|strip|get\s+rid\s+of|prune)\s+{_UNUSED}"
_SORT = rf"(?:sort|order|alphabeti[sz]e|reorder)\s+{_IMPORTS}|(?:run\s+)?isort"
_BOTH = (
    rf"(?:organi[sz]e|clean\s*up|tidy(?:\s+up)?|fix(?:\s+up)?|optimi[sz]e|clean)\s+{_IMPORTS}|"
    rf"{_REMOVE}\s+and\s+sort\s+(?:{_IMPORTS}|the\s+(?:rest|others)|them)|"
    rf"(?:sort|organi[sz]e)\s+{_IMPORTS}\s+and\s+remove\s+(?:{_UNUSED}|(?:the\s+)?unused\s+ones)"
)
_WHERE = (
    r"(?:\s+(?:in|from|of|under|across)\s+(?:(?P<all>(?:the\s+|this\s+|my\s+)?(?:whole\s+|entire\s+)?(?:project|code\s?base|"
    r"code|repo|repository|workspace)|all\s+(?:the\s+)?files|every\s+file|everywhere)|(?P<here>this\s+file|"
    rf"the\s+(?:current|open)\s+file|here|it)|(?:the\s+)?(?:file\s+|folder\s+|directory\s+)?{path_group('where')}))?"
    r"(?:\s+(?:folder|directory))?(?:\s+everywhere)?"
)
_ASKED = re.compile(rf"(?:(?P<both>{_BOTH})|(?P<remove>{_REMOVE})|(?P<sort>{_SORT})){_WHERE}", re.IGNORECASE)


class Imports:
    example = "remove unused imports"
    tools = frozenset({"organize_imports"})

    def recognise(self, question: Question) -> JsonObject | None:
        asked = _ASKED.fullmatch(question.words)
        if asked is None:
            return None
        args: JsonObject = {}
        if asked["remove"]:
            args["sort"] = False
        elif asked["sort"]:
            args["remove"] = False
        if asked["here"]:
            if question.brief.current_file is None:
                return {"nowhere": True}
            args["paths"] = [question.brief.current_file]
        elif where := asked["where"]:
            if not is_path(where) and not re.fullmatch(r"[\w-]+", where):
                return None
            args["paths"] = [where.removeprefix("./")]
        return {"args": args}

    def next(self, wish: JsonObject, question: Question) -> Move:
        if wish.get("nowhere"):
            return Decline("No file is open. Say which one: “remove unused imports in src/a.py”.")
        if (declined := sent_back(question)) is not None:
            return declined
        args, last = wish["args"], question.last
        assert isinstance(args, dict)
        return Act([("organize_imports", args)]) if last is None else said(last)
