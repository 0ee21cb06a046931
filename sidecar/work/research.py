"""A researcher's answer: parses it, and checks that each source it cites exists in the workspace."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from sidecar.wire.tasks import Source
from sidecar.wire.text import plural
from sidecar.work.replies import find_objects, text_before_json
from sidecar.work.results import Researched
from tools.errors import ToolError
from tools.host import Host
from tools.protected import secret_part

#: Rounds of tool calls before the answer.
MAX_ROUNDS = 5
_MAX_SOURCES = 50
_MAX_BYTES = 4 << 20
_MAX_WHY = 500
_LINES = re.compile(r"\s*L?(\d{1,9})(?:\s*(?:-|–|\.\.|:|,|to)\s*L?(\d{1,9}))?\s*", re.IGNORECASE)


class Cited(NamedTuple):
    path: str
    first: int
    last: int
    why: str

    @property
    def lines(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


class Findings(NamedTuple):
    answer: str
    cited: Sequence[Cited]
    #: Sources that name no path and lines.
    unreadable: Sequence[str]


def parse_findings(text: str) -> Findings | None:
    """The last object with an answer; None if the text holds none."""
    found = [each for each in find_objects(text) if isinstance(each.get("answer"), str) and each["answer"].strip()]
    if not found:
        return None
    sources = found[-1].get("sources")
    cited, unreadable = [], []
    for each in (sources if isinstance(sources, list) else [])[:_MAX_SOURCES]:
        parsed = _parse_source(each)
        if parsed is None:
            unreadable.append(str(each)[:100])
        else:
            cited.append(parsed)
    return Findings(found[-1]["answer"].strip(), list(dict.fromkeys(cited)), unreadable)


def _parse_source(value: Any) -> Cited | None:
    """`lines` may be 12, "12-20", "L12-L20" or [12, 20]."""
    if not isinstance(value, dict) or not isinstance(value.get("path"), str):
        return None
    lines = value.get("lines", "")
    text = "-".join(map(str, lines[:2])) if isinstance(lines, list) else str(lines)
    found = _LINES.fullmatch(text)
    if found is None:
        return None
    path = value["path"].strip().removeprefix("./")
    return Cited(path, int(found[1]), int(found[2] or found[1]), str(value.get("why", ""))[:_MAX_WHY])


async def check_findings(text: str, host: Host | None) -> Researched:
    """Removes the citations that are wrong, and says so."""
    findings = parse_findings(text)
    if findings is None:
        answer = text_before_json(text) or text.strip()
        return Researched(text=f"{answer}\n\nThis answer cites no sources, so nothing in it was checked.",
                          answer=answer, sources=[], removed=[])  # fmt: skip
    sources: list[Source] = []
    removed = [f"{each}: names no path and lines" for each in findings.unreadable]
    for each in findings.cited:
        problem = await _problem(each, host)
        if problem:
            removed.append(f"{each.path}:{each.lines}: {problem}")
        else:
            sources.append(Source(path=each.path, lines=each.lines, why=each.why))
    return Researched(
        text=_render(findings.answer, sources, removed), answer=findings.answer, sources=sources, removed=removed
    )


async def _problem(cited: Cited, host: Host | None) -> str:
    """Why a citation doesn't hold; "" if it does."""
    if host is None:
        return "the workspace can't be read"
    if secret_part(cited.path):
        return "the file may hold secrets"
    try:
        _, content = await host.whole(cited.path, _MAX_BYTES)
    except (ToolError, OSError):
        return "there is no such file in the workspace"
    if content is None:
        return "the file is too large or no text"
    lines = content.decode("utf-8", "replace").splitlines()
    if not 1 <= cited.first <= cited.last <= len(lines):
        return f"the file has {plural(len(lines), 'line')}"
    return "" if any(line.strip() for line in lines[cited.first - 1 : cited.last]) else "these lines are empty"


def _render(answer: str, sources: Sequence[Source], removed: Sequence[str]) -> str:
    parts = [answer]
    if sources:
        listed = [f"- `{each.path}:{each.lines}`{f' — {each.why}' if each.why else ''}" for each in sources]
        parts.append("\n".join(["Sources:", *listed]))
    else:
        parts.append("This answer cites no sources, so nothing in it was checked.")
    if removed:
        count = len(removed)
        which = "1 citation was wrong and was" if count == 1 else f"{count} citations were wrong and were"
        parts.append("\n".join([f"{which} removed:", *(f"- {each}" for each in removed)]))
    return "\n\n".join(parts)
