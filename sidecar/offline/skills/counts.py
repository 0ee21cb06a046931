"""Counts lines, files, tests and definitions, and names the largest files."""

import re

from sidecar.models.port import ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import group, is_path, part, phrases
from sidecar.offline.results import failure, records, strings
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject
from sidecar.wire.text import plural

_PROJECT = part("(the|this|our|my) (whole |entire )?(project|repository|repo|code ?base|workspace)")
_IN = part(
    r"( (in|of|under|inside)( the)?( folder| directory)? (?!total\b){path}| in {project}| here)?", project=_PROJECT
)
_LANGUAGE = r"(?P<language>[a-z+#]+)"
_LINES = phrases(
    """
    how many lines( of (code|{language}))? are there{in}( in total| altogether)?
    how many lines of (code|{language})( (are|is))?{in}
    how many lines of {language} (does|do|has|have) ({project}|we|it)( have| has)?( in total)?
    how many lines of {language} (does|do|has|have) {path}( have| has| contain)?
    """,
    project=_PROJECT,
    language=_LANGUAGE,
    **{"in": _IN},
)
_FILES = phrases(
    """
    how many ({language} )?files( are there| do we have| are| exist)?{in}( in total| altogether)?
    how many ({language} )?files (does|do|has|have) ({project}|{path}|we|it)( have| has| contain)?
    (count|number of|count the number of)( the| all)? ({language} )?files{in}
    """,
    project=_PROJECT,
    language=_LANGUAGE,
    **{"in": _IN},
)
_TESTS = phrases(
    """
    how many (unit )?tests( are there| do we have| exist)?( in {project})?
    how many (unit )?tests (does|do|has|have) ({project}|we|it)( have| has)?
    """,
    project=_PROJECT,
)
_DEFINED = phrases(
    """
    how many (?P<kind>functions|methods|classes) (are (there |defined )?in|does|do|has|have)( the file)? {path}{have}
    (count|number of)( the| all)? (?P<kind>functions|methods|classes) (in|of)( the file)? {path}
    """,
    have=part("( (have|has|contain|define))?"),
)
_LARGEST = phrases(
    """
    (what|which) (is|are) the {large}( source)? files?( in {project}| here)?
    (what|which)( source)? files? (is|are|has|have)( the)? ({large}|most lines)( in {project}| here)?
    ({show})?(the )?{large}( source)? files?( in {project}| here)?
    """,
    project=_PROJECT,
    large="(?:longest|biggest|largest)",
)
#: Other names that people use for a language.
_LANGUAGES = {"ts": "typescript", "js": "javascript", "py": "python", "golang": "go", "cpp": "c++"}
_KINDS = {"functions": ("function",), "methods": ("method", "constructor"), "classes": ("class",)}


class Counts:
    example = "how many Python files are there?"
    tools = frozenset({"describe_project", "describe_file", "analyze_code"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        words = question.words
        if _TESTS.match(words):
            return {"of": "tests"}
        if _LARGEST.match(words):
            return {"of": "largest"}
        if asked := _DEFINED.match(words):
            path = group(asked, "path")
            return {"of": "definitions", "path": path, "kind": asked["kind"].lower()} if is_path(path) else None
        for unit, pattern in (("lines", _LINES), ("files", _FILES)):
            if (asked := pattern.match(words)) is not None:
                return _of(unit, asked)
        return None

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        last, path, of = question.last, str(args.get("path", "")), args["of"]
        if last is None:
            if of == "definitions":
                return Act([("analyze_code", {"path": path})])
            section = {"tests": "tests", "largest": "biggest"}.get(str(of), "size")
            return Act([("describe_file", {"path": path}) if path else ("describe_project", {"sections": [section]})])
        if last.status != "success":
            return Decline(failure(last))
        if of == "definitions":
            return Say(_definitions(path, str(args["kind"]), last))
        if of == "tests":
            return Say(_tests(last))
        if of == "largest":
            return Say(_largest(last))
        return _size(str(of), str(args.get("language", "")), path, last)


def _of(unit: str, asked: re.Match[str]) -> JsonObject | None:
    path, language = group(asked, "path").removeprefix("./").rstrip("/"), group(asked, "language").lower()
    if language in ("test", "tests"):
        return {"of": "tests"} if unit == "files" and not path else None
    if language in ("code", "source"):
        language = ""
    return {"of": unit, "path": path, "language": _LANGUAGES.get(language, language)}


def _size(unit: str, language: str, path: str, last: ToolReturn) -> Move:
    """The lines or files of the whole project or a folder, perhaps of one language only."""
    counts = {name: last.details.get(name) for name in ("languages", "languageFiles")}
    lines, files = (
        {str(name): int(str(count)) for name, count in each.items()} if isinstance(each, dict) else {}
        for each in counts.values()
    )
    where = f" in `{path}`" if path else ""
    if language:
        named = next((name for name in files if name.lower() == language), None)
        if named is None:
            known = f" The code is {', '.join(files)}." if files else ""
            return Say(f"No {language} file was found{where}.{known}")
        return Say(f"{named}{where}: {plural(lines[named], 'line')} in {plural(files[named], 'file')}.")
    total, count = int(str(last.details["lines"])), int(str(last.details["files"]))
    each = (f"{name} {lines[name] if unit == 'lines' else files[name]:,}" for name in files)
    code = f" Code by {unit}: {', '.join(each)}." if files else ""
    return Say(f"{plural(total, 'line')} in {plural(count, 'file')}{where}, blank lines and comments included.{code}")


def _definitions(path: str, kind: str, last: ToolReturn) -> str:
    found = [str(each["name"]) for each in records(last, "symbols") if each["kind"] in _KINDS[kind]]
    noun = {"classes": "class"}.get(kind, kind.removesuffix("s"))
    names = f": {', '.join(f'`{name}`' for name in found[:40])}{' …' if len(found) > 40 else ''}" if found else ""
    methods = sum(each["kind"] in _KINDS["methods"] for each in records(last, "symbols"))
    beside = f" It also defines {plural(methods, 'method')}." if kind == "functions" and methods else ""
    return f"`{path}` defines {plural(len(found), noun, kind)}{names}.{beside}"


def _tests(last: ToolReturn) -> str:
    command, count = str(last.details.get("tests", "")), int(str(last.details.get("testFiles", 0)))
    if not count:
        return "No test files were found."
    run = " Only a run counts single tests: say “run the tests”." if command else ""
    return f"{plural(count, 'test file')}.{run}"


def _largest(last: ToolReturn) -> str:
    files = strings(last, "biggest")
    if not files:
        return "No source files were found."
    lines = last.details.get("biggestLines")
    counts = (
        [f" ({plural(int(str(each)), 'line')})" for each in lines] if isinstance(lines, list) else [""] * len(files)
    )
    shown = [f"- `{path}`{count}" for path, count in zip(files, counts, strict=True)]
    return "\n".join(["The largest source files, without tests and copies of other projects:", "", *shown])
