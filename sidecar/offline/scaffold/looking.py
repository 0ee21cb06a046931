"""The reviewer's part: read every file, and give a verdict on what is really there."""

import ast
import json
import re
import tomllib
from collections.abc import Iterator, Sequence

from sidecar.models.port import ToolReturn
from sidecar.offline.output import why
from sidecar.offline.question import Question
from sidecar.offline.scaffold.planning import project_of
from sidecar.offline.scaffold.proving import Evidence
from sidecar.offline.scaffold.wording import Asked
from sidecar.offline.skill import Act, Move, Say
from sidecar.wire.base import JsonObject

#: How many files are read with one call: each must fit as a whole.
_AT_ONCE = 10
_FILE = re.compile(r"^── (.+?)(?:: (.+))?$", re.MULTILINE)
_NUMBER = re.compile(r"^ *\d+ ", re.MULTILINE)


def review(asked: Asked, question: Question) -> Move:
    project = project_of(asked, question.brief.changed, question.brief.workspace)
    if project is None:
        return Say('{"passed": true, "summary": "This task has made no project, so there was nothing to review."}')
    paths = [project.path(file) for file in project.files()]
    if not question.returns:
        groups = [paths[start : start + _AT_ONCE] for start in range(0, len(paths), _AT_ONCE)]
        return Act([("read_files", {"paths": list(group)}) for group in groups])
    issues: list[JsonObject] = []
    read = 0
    for path, text, problem in _contents(question.returns):
        read += problem is None
        found = problem or _problem(path, text)
        if found:
            issues.append({"file": path, "message": found, "severity": "error"})
    tests, failed = Evidence.of(project, question.brief.earlier_calls).counts or (0, 0)
    if failed:
        issues.append({"message": f"{failed} tests fail.", "severity": "error"})
    elif not tests:
        issues.append({"message": "The tests have not been run.", "severity": "hint"})
    wrong = any(issue["severity"] == "error" for issue in issues)
    summary = f"Read {read} of {len(paths)} files of {project.name}: {'not ' if wrong else ''}all can be parsed"
    summary += f", and {tests} tests passed." if tests and not failed else "."
    return Say(json.dumps({"passed": not wrong, "summary": summary, "issues": issues}, ensure_ascii=False))


def _contents(returns: Sequence[ToolReturn]) -> Iterator[tuple[str, str, str | None]]:
    """Each file that was read: its path, its text, and why it could not be read."""
    for back in returns:
        if back.status != "success":
            yield "", "", f"The files could not be read: {why(back)}"
            continue
        places = list(_FILE.finditer(back.content))
        ends = [*(place.start() for place in places[1:]), len(back.content) + 1]
        for place, end in zip(places, ends, strict=True):
            shown = back.content[place.end() + 1 : end - 1]
            yield place[1], "" if shown == "(empty)" else _NUMBER.sub("", shown), place[2]


def _problem(path: str, text: str) -> str | None:
    """What keeps a file from being used, as far as it can be seen without running it."""
    try:
        if path.endswith(".py"):
            ast.parse(text)
        elif path.endswith(".json"):
            json.loads(text)
        elif path.endswith(".toml"):
            tomllib.loads(text)
    except (SyntaxError, ValueError) as error:
        return f"It cannot be parsed: {error}"
    return "A place of the template was not filled in." if re.search(r"\{\{\w+\}\}", text) else None
