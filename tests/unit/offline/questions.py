"""Questions to the offline model, and tool results as skills read them."""

from pydantic import JsonValue

from sidecar.models.port import Brief, ToolReturn
from sidecar.offline.model import SKILLS
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.skill import Move, OfflineSkill
from sidecar.wire.base import JsonObject
from tools.executor.registry import default_registry

ALL_TOOLS = frozenset(tool.name for tool in default_registry().infos())
#: What the editor shows.
EDITOR = Brief(current_file="src/a.py", selected_code="def foo(x):\n    return bar(x)\n")


def find_skill(question: ParsedRequest) -> tuple[OfflineSkill, JsonObject] | None:
    """The first skill that understands the question, as the model picks it."""
    for skill in SKILLS:
        args = skill.parse(question) if skill.tools <= question.offered else None
        if args is not None:
            return skill, args
    return None


def next_move(question: ParsedRequest) -> Move | None:
    found = find_skill(question)
    return found[0].next(found[1], question) if found is not None else None


def ask_coder(text: str, *returns: ToolReturn, brief: Brief = EDITOR) -> Move | None:
    return next_move(ParsedRequest("coder", text, brief, ALL_TOOLS, returns, len(returns)))


def result(tool: str, content: str = "", **details: JsonValue) -> ToolReturn:
    return ToolReturn(id="0-0", tool=tool, status="success", content=content, details=details)


def failed(tool: str, message: str, code: str = "tool_failed", **details: JsonValue) -> ToolReturn:
    return ToolReturn(id="0-0", tool=tool, status="error", content=message, code=code, message=message, details=details)


def declined(tool: str) -> ToolReturn:
    return failed(tool, "You declined.", "denied", declined=True)


def status(*changes: str, name: str = "main", ahead: int = 0) -> ToolReturn:
    """A result of git_status; each change is Git's two letters and a path."""
    entries: list[JsonValue] = [{"state": each[:2], "path": each[3:]} for each in changes]
    upstream = "origin/main" if ahead else None
    return result("git_status", name=name, upstream=upstream, ahead=ahead, behind=0, changes=entries)
