"""Removes unused imports, sorts them, or both."""

import re

from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import is_path, path_group
from sidecar.offline.skill import Decline, Move, OneCall, answer_change, decline_fix
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


class Imports(OneCall):
    example = "remove unused imports"
    tool = "organize_imports"
    tools = frozenset({"organize_imports"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        asked = _ASKED.fullmatch(question.words)
        if asked is None:
            return None
        args: JsonObject = {"sort": False} if asked["remove"] else {"remove": False} if asked["sort"] else {}
        if asked["here"]:
            return {**args, "paths": [question.brief.current_file or ""]}
        if where := asked["where"]:
            if not is_path(where) and not re.fullmatch(r"[\w-]+", where):
                return None
            args["paths"] = [where.removeprefix("./")]
        return args

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        if args.get("paths") == [""]:
            return Decline("No file is open. Say which one: “remove unused imports in src/a.py”.")
        if (declined := decline_fix(question)) is not None:
            return declined
        return answer_change(question.last) if question.last is not None else super().next(args, question)
