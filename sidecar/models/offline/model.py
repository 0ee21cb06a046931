"""A deterministic planner behind the same port as every model: it reads the conversation, and never pretends."""

import re
from collections.abc import AsyncIterator, Sequence

from sidecar.models.offline.commands import Commands
from sidecar.models.offline.listing import Listing
from sidecar.models.offline.search import Search
from sidecar.models.offline.skill import Act, Skill
from sidecar.models.offline.test_runs import TestRuns
from sidecar.models.port import Delta, Failure, ModelTurn, Reply, Request, Stop, ToolReturn, ToolTurn, ToolUse, UserTurn

SKILLS: tuple[Skill, ...] = (TestRuns(), Listing(), Search(), Commands())


class Offline:
    provider = "offline"
    name = "basic"

    def __init__(self, skills: Sequence[Skill] = SKILLS) -> None:
        self._skills = skills

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        asked, returns, turns = _since_last_request(request)
        offered = {tool.name for tool in request.tools}
        for skill in self._skills:
            wish = skill.recognise(asked) if skill.tools <= offered else None
            if wish is None:
                continue
            decision = skill.next(wish, returns)
            if isinstance(decision, Act):
                calls = [
                    ToolUse(id=f"{turns}-{number}", tool=tool, args=args)
                    for number, (tool, args) in enumerate(decision.calls)
                ]
                yield Reply(text=decision.text, calls=calls, stop=Stop.TOOL_USE)
                return
            yield Delta(decision.text)
            yield Reply(text=decision.text, stop=Stop.END)
            return
        text = self._cannot()
        yield Delta(text)
        yield Reply(text=text, stop=Stop.DECLINED, failure=Failure(code="not_understood", message=text))

    def _cannot(self) -> str:
        examples = ", ".join(f"“{skill.example}”" for skill in self._skills)
        return (
            f"The offline model did not understand this; it can do things like {examples}. "
            "For everything else, configure a language model: see `brain doctor`."
        )


def _since_last_request(request: Request) -> tuple[str, list[ToolReturn], int]:
    """The person's last request, what came back since, and how many replies were given since."""
    asked, returns, turns = "", list[ToolReturn](), 0
    for turn in request.history:
        if isinstance(turn, UserTurn):
            asked, returns, turns = turn.text, [], 0
        elif isinstance(turn, ToolTurn):
            returns.extend(turn.returns)
        elif isinstance(turn, ModelTurn):
            turns += 1
    return re.sub(r"\s+", " ", asked).strip() if "\n" not in asked.strip() else asked.strip(), returns, turns
