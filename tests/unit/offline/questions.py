"""Questions to the offline model, and tool results as skills read them."""

from pydantic import JsonValue

from sidecar.models.port import Brief, ToolReturn
from sidecar.offline.model import SKILLS
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.skill import Decline, Move, OfflineSkill, Say
from sidecar.wire.base import JsonObject
from sidecar.work.roster import ROSTER
from sidecar.work.router import READ_ONLY, route
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


def move(text: str, *returns: ToolReturn, brief: Brief = EDITOR) -> Move | None:
    """What is done about it by the agent to whom the router gives it, with the tools that this agent has."""
    chosen = route(text)
    agent = ROSTER[next(name for name in chosen.pipeline if name != "planner")]
    agent = agent.read_only() if chosen.intent in READ_ONLY else agent
    return next_move(ParsedRequest(agent.name, text, brief, frozenset(agent.tools), returns, len(returns)))


def said(text: str, *returns: ToolReturn, brief: Brief = EDITOR) -> str:
    answer = move(text, *returns, brief=brief)
    assert isinstance(answer, (Say, Decline)), answer
    return answer.text


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
