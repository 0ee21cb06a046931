"""The offline model: picks the skill that understands the request, and says plainly when none does."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace

from sidecar.models.errors import Failure
from sidecar.models.port import Capabilities, Delta, Reply, Request, Stop, ToolUse
from sidecar.offline.lookup import resolve_path
from sidecar.offline.parsed_request import ParsedRequest, last_message, parse_questions
from sidecar.offline.scaffold.skill import Scaffold
from sidecar.offline.skill import Act, Decline, Move, OfflineSkill
from sidecar.offline.skills.commit import Commit, CommitMessage
from sidecar.offline.skills.counts import Counts
from sidecar.offline.skills.explain_file import ExplainFile
from sidecar.offline.skills.explain_project import ExplainProject
from sidecar.offline.skills.explain_symbol import ExplainSymbol
from sidecar.offline.skills.git_history import Blame, History
from sidecar.offline.skills.git_state import GitState
from sidecar.offline.skills.help import GROUPS, Help, describe_nearest
from sidecar.offline.skills.imports import Imports
from sidecar.offline.skills.lines import CountLines, ExplainLines
from sidecar.offline.skills.moving import Moving, MovingFiles
from sidecar.offline.skills.places import Places
from sidecar.offline.skills.rename import Rename
from sidecar.offline.skills.research import Research
from sidecar.offline.skills.review import ReviewCode, ReviewVerdict
from sidecar.offline.skills.running import Commands, Formatting, ProjectCommands
from sidecar.offline.skills.search import FindPlace, ListFiles, SearchText, Todos
from sidecar.offline.skills.test_runs import CoveringTests, FailingTest, TestRuns
from sidecar.offline.skills.usages import Usages
from sidecar.offline.skills.writing import Writing

#: The first skill that parses a question answers it, so specific ones come first.
SKILLS: tuple[OfflineSkill, ...] = (
    Scaffold(),
    ReviewVerdict(),
    Research(),
    Help(),
    MovingFiles(),
    Rename(),
    Imports(),
    Moving(),
    Writing(),
    Formatting(),
    TestRuns(),
    FailingTest(),
    ProjectCommands(),
    Todos(),
    ReviewCode(),
    GitState(),
    CommitMessage(),
    Commit(),
    History(),
    Blame(),
    ExplainProject(),
    Counts(),
    CountLines(),
    ExplainLines(),
    ExplainFile(),
    CoveringTests(),
    Usages(),
    ExplainSymbol(),
    ListFiles(),
    Places(),
    SearchText(),
    FindPlace(),
    Commands(),
)


class Offline:
    provider = "offline"
    name = "basic"
    capabilities = Capabilities(vision=False, language=False, in_process=True)

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        for question in parse_questions(request):
            # In a thread: the first requests of a process compile many patterns.
            move = await asyncio.to_thread(self._move, question)
            if move is None:
                continue
            if isinstance(move, Act):
                yield _calls(move, question)
                return
            if not isinstance(move, Decline) or not _only_helps(request):
                yield Delta(move.text)
            if isinstance(move, Decline):
                yield _declined(move.code, move.text, aloud=not _only_helps(request))
                return
            yield Reply(text=move.text, stop=Stop.END)
            return
        if request.agent == "planner" and (plan := self._one_step(request)):
            yield Delta(plan)
            yield Reply(text=plan, stop=Stop.END)
            return
        asked = next(iter(parse_questions(request)), ParsedRequest(request.agent, last_message(request)))
        # An agent that declines silently needs no suggestions.
        nearest = describe_nearest(
            replace(asked, offered=frozenset()) if _only_helps(request) else asked, self._examples()
        )
        if isinstance(nearest, Act):
            yield _calls(nearest, asked)
            return
        if not _only_helps(request):
            yield Delta(nearest)
        yield _declined("not_understood", nearest, aloud=not _only_helps(request))

    def _move(self, question: ParsedRequest) -> Move | None:
        for skill in SKILLS:
            args = skill.parse(question) if skill.tools <= question.offered else None
            if args is not None:
                resolved = resolve_path(skill, args, question)
                if not isinstance(resolved, ParsedRequest):
                    return resolved
                return skill.next(args if resolved is question else skill.parse(resolved) or args, resolved)
        return None

    def _one_step(self, request: Request) -> str:
        """A plan with one step if a skill does it all; "" if none does."""
        every = frozenset(tool for skill in SKILLS for tool in skill.tools)
        for question in parse_questions(request):
            worker = replace(question, agent="coder", offered=every | question.offered)
            if any(skill.parse(worker) is not None for skill in SKILLS):
                return json.dumps({"steps": [{"id": "1", "title": worker.words[:120]}]}, ensure_ascii=False)
        return ""

    def _examples(self) -> list[str]:
        groups = [example for _, examples in GROUPS for example in examples]
        return [*groups, *(skill.example for skill in SKILLS if skill.example)]


def _calls(move: Act, question: ParsedRequest) -> Reply:
    calls = [
        ToolUse(id=f"{question.turns}-{number}", tool=tool, args=args) for number, (tool, args) in enumerate(move.calls)
    ]
    return Reply(text=move.text, calls=calls, stop=Stop.TOOL_USE)


def _only_helps(request: Request) -> bool:
    """Whether this agent only supports others: the task goes on without it, so it declines silently."""
    return request.agent == "planner" or (request.agent == "reviewer" and request.brief.follows)


def _declined(code: str, text: str, *, aloud: bool) -> Reply:
    # A language model may understand it later; what is not possible stays so.
    failure = Failure(code=code, message=text, recoverable=code == "not_understood")
    return Reply(text=text if aloud else "", stop=Stop.DECLINED, failure=failure)
