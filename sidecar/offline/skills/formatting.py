"""Formats the code with the formatter that the project has."""

import re

from sidecar.offline.output import refused, told
from sidecar.offline.phrases import group, phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.offline.wording import HERE, is_path
from sidecar.wire.base import JsonObject

_ASKED = phrases(
    """
    (re)?(format|prettify|beautify) ({all}|{here}|(the )?(code in |file |folder )?{path}){own}
    run (the )?(code )?(auto)?formatter( (on|over) {path})?
    (run )?(ruff format|black|prettier|gofmt|cargo fmt)
    """,
    all=r"(?:it|everything|all\s+(?:of\s+)?(?:the\s+)?(?:code|files)|code|(?:the|my|our|this)\s+(?:(?:whole|entire)\s+)?"
    r"(?:code|project|code\s?base|repo|repository|sources?|source\s+code|files))",
    here=HERE.replace("|here)", "|this)"),
    own=r"(?:\s+with\s+(?:the\s+)?(?:project's\s+)?formatter)?",
)
_FOUND = re.compile(r"^format: (?P<command>.+)$", re.MULTILINE)
#: The formatters that can be given one file, and which ones they take.
_SUFFIXES = {"ruff": (".py", ".pyi"), "black": (".py", ".pyi"), "gofmt": (".go",)}
_MISSING = re.compile(r"No module named|not found|ENOENT|missing script", re.IGNORECASE)


class Formatting:
    example = "format the code"
    tools = frozenset({"find_commands", "run_command"})

    def recognise(self, question: Question) -> JsonObject | None:
        asked = understood(_ASKED, question.words)
        if asked is None:
            return None
        where = group(asked, "path")
        if group(asked, "here"):
            return {"path": question.brief.current_file or ""}
        if where:
            return {"path": where.removeprefix("./")} if is_path(where) else None
        return {}

    def next(self, wish: JsonObject, question: Question) -> Move:
        path, last = str(wish["path"]) if "path" in wish else None, question.last
        if path == "":
            return Decline("No file is open. Say which one: “format src/app.py”, or “format the code”.")
        if last is None:
            return Act([("find_commands", {})])
        if last.tool == "find_commands":
            return _run(path, last.content)
        words = told(_command(question.returns[0].content, path) or "", last)
        if last.status == "success" or refused(last.content):
            return Say(words)
        missing = "\n\nThe project's formatter is not installed here; say “install the dependencies”."
        return Decline(words + missing if _MISSING.search(last.content) else words)


def _run(path: str | None, found: str) -> Move:
    whole = _FOUND.search(found)
    if whole is None:
        return Decline(
            "The project has no formatter that is known here. For Python, install ruff and add `[tool.ruff]` to "
            "pyproject.toml; for TypeScript, install prettier and add a `format` script to package.json."
        )
    command = _command(found, path)
    if command is None:
        return Decline(
            f"The project is formatted with `{whole['command']}`, which does not take {path} alone. Say “format the "
            "code” for all of it."
        )
    return Act([("run_command", {"command": command})])


def _command(found: str, path: str | None) -> str | None:
    match = _FOUND.search(found)
    if match is None or path is None:
        return match["command"] if match is not None else None
    command = match["command"]
    for program, suffixes in _SUFFIXES.items():
        if re.search(rf"\b{program}\b", command) and command.endswith(" ."):
            fits = path.endswith(suffixes) or "." not in path.rpartition("/")[2]
            return (
                f"{command[:-1]}{'./' if path[0] in '-@' else ''}{path}"
                if fits and re.fullmatch(r"[\w./@+-]+", path)
                else None
            )
    return None
