"""Explains a file or folder: purpose, outline, imports and importers."""

from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import is_path, part, phrases
from sidecar.offline.results import failure, quote_names, strings
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject

_ASK = part(
    r"(explain|describe|summari[sz]e|outline|tell me about)( to me)?|(walk|talk|take) me through|"
    r"how complex is|explain (what|how)|(what|how) (does|do)|"
    r"what( is|'s)( in)?|({show})?(an? |the )?((quick|short|brief) )?(overview|summary|outline) of|"
    r"({show}|what are )(all )?(the )?(functions|classes|methods|symbols|functions and classes) (in|of)"
)
_AFTER = part(r"( (do|does|work|works|contain|for|about|is for|is about|define))?")
_NO_NAME = (
    "in|of|at|from|to|on|for|and|or|the|an?|is|does|do|what|how|why|function|method|class|lines?|tests?|code|file"
)
_WORDS = rf"(?P<path>(?:(?!(?:{_NO_NAME})\s)[\w@+./()&,-]+\s+){{1,5}}[\w@+./()&,-]*\.\w+)"
_PATHS = phrases("{ask} (the )?((file|module) )?{path}{after}", ask=_ASK, after=_AFTER)
_FOLDERS = phrases(
    """
    {ask} (the )?(folder|directory|package) {path}{after}
    {ask} the {path} (folder|directory|package){after}
    """,
    ask=_ASK,
    after=_AFTER,
)
#: An unquoted name with spaces; it ends with a file suffix.
_SPACED = phrases("{ask} (the (file|module) )?{spaced}{after}", ask=_ASK, after=_AFTER, spaced=_WORDS)
_THIS = phrases("{ask} (this|the current|the open|my current) (file|module){after}", ask=_ASK, after=_AFTER)
_LINES = 25


class ExplainFile:
    example = "explain {file}"
    tools = frozenset({"describe_file", "find_files", "read_file"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        if _THIS.match(question.words):
            return {"path": question.brief.current_file or ""}
        asked = _FOLDERS.match(question.words)
        if asked is None:
            asked = _PATHS.match(question.words) or _SPACED.match(question.words)
            if asked is None or not is_path(asked["path"]):
                return None
        return {"path": asked["path"].removeprefix("./").rstrip("/") or "."}

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        path, last = str(args["path"]), question.last
        if not path:
            return Decline("No file is open. Name the file that you mean.")
        if last is None:
            return Act([("describe_file", {"path": path})])
        if last.status == "success" and last.tool == "describe_file":
            return Say(last.content)
        if last.tool == "describe_file":
            return self._otherwise(path, question)
        if last.tool == "find_files":
            return self._elsewhere(path, strings(last, "paths"))
        if last.status == "success":
            shown = "\n".join(last.content.splitlines()[:_LINES])
            return Say(f"`{path}` is not source code. It begins:\n\n````\n{shown}\n````")
        return Decline(f"`{path}` can't be read: {failure(last)}")

    def _otherwise(self, path: str, question: ParsedRequest) -> Move:
        """Read the first lines of a file in no known language; look elsewhere for a missing one."""
        last = question.last
        assert last is not None
        if last.code == "unknown_language":
            return Act([("read_file", {"path": path, "endLine": _LINES})])
        if len(question.returns) > 1:
            return Decline(f"`{path}` can't be described: {failure(last)}")
        # Of a name with spaces, perhaps only the last word is the name: “my app.py”.
        return Act([("find_files", {"pattern": f"**/{'*' if ' ' in path else ''}{_last(path)}"})])

    def _elsewhere(self, path: str, paths: list[str]) -> Move:
        whole = [each for each in paths if f"/{each}".endswith(f"/{path}")]
        found = whole or [each for each in paths if f"/{each}".endswith(f"/{_last(path)}")]
        if len(found) == 1 and found[0] != path:
            return Act([("describe_file", {"path": found[0]})])
        others = f" There are {quote_names(found)}." if len(found) > 1 else ""
        return Decline(f"There is no file `{path}` in this project.{others}")


def _last(path: str) -> str:
    """The file name; of several words the last one."""
    return path.rpartition("/")[2].rpartition(" ")[2]
