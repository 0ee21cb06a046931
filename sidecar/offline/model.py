"""A deterministic planner behind the same port as every model: it reads the conversation, and never pretends."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from sidecar.models.port import Capabilities, Delta, Failure, Reply, Request, Stop, ToolUse
from sidecar.offline.elsewhere import placed
from sidecar.offline.nearest import told
from sidecar.offline.question import Question, asked_last, questions
from sidecar.offline.skill import Act, Decline, Move, Skill
from sidecar.offline.skills import SKILLS
from sidecar.offline.skills.help import GROUPS


class Offline:
    provider = "offline"
    name = "basic"
    capabilities = Capabilities(vision=False, language=False, in_process=True)

    def __init__(self, skills: Sequence[Skill] = SKILLS) -> None:
        self._skills = skills

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        for question in questions(request):
            move = self._move(question)
            if move is None:
                continue
            if isinstance(move, Act):
                calls = [
                    ToolUse(id=f"{question.turns}-{number}", tool=tool, args=args)
                    for number, (tool, args) in enumerate(move.calls)
                ]
                yield Reply(text=move.text, calls=calls, stop=Stop.TOOL_USE)
                return
            if not isinstance(move, Decline) or not _helps(request):
                yield Delta(move.text)
            if isinstance(move, Decline):
                yield _declined(move.code, move.text, aloud=not _helps(request))
                return
            yield Reply(text=move.text, stop=Stop.END)
            return
        if request.agent == "planner" and (plan := self._one_step(request)):
            yield Delta(plan)
            yield Reply(text=plan, stop=Stop.END)
            return
        text = told(request.brief.asked or asked_last(request), self._examples())
        if not _helps(request):
            yield Delta(text)
        yield _declined("not_understood", text, aloud=not _helps(request))

    def _move(self, question: Question) -> Move | None:
        for skill in self._skills:
            wish = skill.recognise(question) if skill.tools <= question.offered else None
            if wish is not None:
                known = placed(question)
                if not isinstance(known, Question):
                    return known
                return skill.next(wish if known is question else skill.recognise(known) or wish, known)
        return None

    def _one_step(self, request: Request) -> str:
        """What a skill does in one go needs no more of a plan; what none can do has no plan at all."""
        every = frozenset(tool for skill in self._skills for tool in skill.tools)
        for question in questions(request):
            worker = replace(question, agent="coder", offered=every | question.offered)
            if any(skill.recognise(worker) is not None for skill in self._skills):
                return json.dumps({"steps": [{"id": "1", "title": worker.words[:120]}]}, ensure_ascii=False)
        return ""

    def _examples(self) -> list[str]:
        groups = [example for _, examples in GROUPS for example in examples]
        return [*groups, *(skill.example for skill in self._skills if skill.example)]


def _helps(request: Request) -> bool:
    """Whether this agent only helps another: it is done without where it cannot, and nobody need hear of it."""
    return request.agent == "planner" or (request.agent == "reviewer" and request.brief.follows)


def _declined(code: str, text: str, *, aloud: bool) -> Reply:
    # What is not understood may be, once there is a language model; what is not possible stays so, however often it is
    # asked for with the same calls behind it.
    failure = Failure(code=code, message=text, recoverable=code == "not_understood")
    return Reply(text=text if aloud else "", stop=Stop.DECLINED, failure=failure)
