"""Says what a file is: its purpose, what it defines, imports, who imports it, and what is complex in it."""

from sidecar.offline.output import why
from sidecar.offline.phrases import part, phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.offline.wording import is_path
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
#: A name with spaces, that nobody put between quotes: it ends with the ending of a file.
_SPACED = phrases("{ask} (the (file|module) )?{spaced}{after}", ask=_ASK, after=_AFTER, spaced=_WORDS)
_THIS = phrases("{ask} (this|the current|the open|my current) (file|module){after}", ask=_ASK, after=_AFTER)
_LINES = 25


class ExplainFile:
    example = "explain src/app.py"
    tools = frozenset({"describe_file", "find_files", "read_file"})

    def recognise(self, question: Question) -> JsonObject | None:
        if understood(_THIS, question.words):
            return {"path": question.brief.current_file or ""}
        asked = understood(_FOLDERS, question.words)
        if asked is None:
            asked = understood(_PATHS, question.words) or understood(_SPACED, question.words)
            if asked is None or not is_path(asked["path"]):
                return None
        return {"path": asked["path"].removeprefix("./").rstrip("/") or "."}

    def next(self, wish: JsonObject, question: Question) -> Move:
        path, last = str(wish["path"]), question.last
        if not path:
            return Decline("No file is open here, as far as I can see. Name it: “explain src/app.py”.")
        if last is None:
            return Act([("describe_file", {"path": path})])
        if last.status == "success" and last.tool == "describe_file":
            return Say(last.content)
        if last.tool == "describe_file":
            return self._otherwise(path, question)
        if last.tool == "find_files":
            return self._elsewhere(path, last.content.splitlines() if last.status == "success" else [])
        if last.status == "success":
            shown = "\n".join(last.content.splitlines()[:_LINES])
            return Say(f"`{path}` is no source code that I can describe. It begins so:\n\n````\n{shown}\n````")
        return Decline(f"`{path}` could not be read: {why(last)}")

    def _otherwise(self, path: str, question: Question) -> Move:
        """No such file: perhaps there is one of that name elsewhere. No known language: its first lines."""
        last = question.last
        assert last is not None
        if "in no known language" in last.content:
            return Act([("read_file", {"path": path, "endLine": _LINES})])
        if len(question.returns) > 1:
            return Decline(f"`{path}` could not be described: {why(last)}")
        # Of words that were taken for a name with spaces, perhaps only the last is one: “my app.py”.
        return Act([("find_files", {"pattern": f"**/{'*' if ' ' in path else ''}{_last(path)}"})])

    def _elsewhere(self, path: str, lines: list[str]) -> Move:
        whole = [line for line in lines if f"/{line}".endswith(f"/{path}")]
        found = whole or [line for line in lines if f"/{line}".endswith(f"/{_last(path)}")]
        if len(found) == 1 and found[0] != path:
            return Act([("describe_file", {"path": found[0]})])
        others = f" There are {', '.join(f'`{each}`' for each in found[:5])}." if len(found) > 1 else ""
        return Decline(f"There is no file `{path}` in this project.{others}")


def _last(path: str) -> str:
    """The name of a file, or of several words the last."""
    return path.rpartition("/")[2].rpartition(" ")[2]
