"""Routes a task to an intent and its pipeline by its words, within microseconds, and says why.

What you choose comes first: `options.intent`, or a slash command that names an intent, a command of your own, or the
agent that works alone. Only a real language model is asked for a second opinion, and only if the words leave it open.
"""

import asyncio
from collections.abc import Collection, Mapping

from sidecar.models.port import Model, Reply, Request, Stop, UserTurn
from sidecar.wire.intents import INTENTS, SLASH_COMMANDS, Intent
from sidecar.wire.tasks import Options, RouteAnswer, Usage
from sidecar.work.customizations import CustomCommand, Definitions
from sidecar.work.routing.guess import guess
from sidecar.work.slash import parse_slash, suggest_command

PIPELINES: dict[Intent, tuple[str, ...]] = {
    "create_project": ("planner", "coder", "terminal", "reviewer", "docs"),
    "edit_code": ("coder", "reviewer"),
    "refactor_code": ("planner", "coder", "reviewer"),
    "run_command": ("terminal",),
    "explain_code": ("coder",),
    "review_code": ("reviewer",),
    "write_docs": ("docs", "reviewer"),
    "chat": ("coder",),
}

#: Intents whose agents get no tool that changes anything.
READ_ONLY: frozenset[Intent] = frozenset({"chat", "explain_code", "review_code"})
#: Below this confidence, a language model may know better.
SURE = 0.6
_SECOND_OPINION_SECONDS = 8.0
_QUESTION = (
    "Classify a request to a coding assistant. Answer with one of these words and nothing else: "
    + ", ".join(INTENTS)
    + ". chat: not about the code of this project. explain_code: asks about the project, wants no change. run_command: "
    "wants something run."
)


def route(
    task: str,
    options: Options | None = None,
    commands: Mapping[str, CustomCommand] | None = None,
    agents: Collection[str] = (),
) -> RouteAnswer:
    if options is not None and options.intent is not None:
        return _answer(options.intent, 1.0, "you chose this intent", options)
    if slash := parse_slash(task):
        why = f"you wrote /{slash.word}"
        custom = (commands or {}).get(slash.word)
        if custom is not None:
            return _alone(_answer(custom.intent or "edit_code", 1.0, why, options), custom.agent, options)
        if command := SLASH_COMMANDS.get(slash.word):
            return _answer(command.intent, 1.0, why, options)
        if slash.word in agents and (rest := slash.rest.strip()):
            return _alone(_answer(guess(rest).intent, 1.0, why, options), slash.word, options)
    guessed = guess(task)
    return _answer(guessed.intent, guessed.confidence, guessed.why, options)


def request_of(task: str, commands: Mapping[str, CustomCommand] | None = None, agents: Collection[str] = ()) -> str:
    """The request that agents get: the task without its slash command, or the text that the command stands for."""
    slash = parse_slash(task)
    if slash is None:
        return task
    if custom := (commands or {}).get(slash.word):
        return custom.expand(slash.rest.strip())
    command = SLASH_COMMANDS.get(slash.word)
    if not slash.rest.strip():
        return task
    if command is None:
        return slash.rest if slash.word in agents else task
    has_verb = slash.rest.lower().startswith(command.verb) or (
        command.verb_optional and guess(slash.rest).intent == command.intent
    )
    return slash.rest if has_verb else f"{command.verb} {slash.rest}"


def suggest_for(task: str, definitions: Definitions) -> str | None:
    """The error for a task that starts with a mistyped command or agent, built in or custom."""
    # Includes commands whose file can't be used: running one reports the problem with its file.
    unusable = (name.removeprefix("commands/") for name in definitions.problems if name.startswith("commands/"))
    return suggest_command(task, (*SLASH_COMMANDS, *definitions.commands, *definitions.agents, *unusable))


def unsure(answer: RouteAnswer) -> bool:
    return answer.confidence < SURE


async def second_opinion(task: str, answer: RouteAnswer, model: Model, options: Options) -> tuple[RouteAnswer, Usage]:
    """The language model's choice if it answers in time with a known intent, else `answer`; and what asking cost."""
    request = Request("router", _QUESTION, [UserTurn(text=task[:2_000])])
    usage = Usage()
    try:
        async with asyncio.timeout(_SECOND_OPINION_SECONDS):
            async for part in model.stream(request):
                if isinstance(part, Reply):
                    usage = part.usage
                    choice = part.text.strip().strip(".`\"'").lower() if part.stop is Stop.END else ""
                    if choice in PIPELINES:
                        answer = _answer(choice, 0.8, f"{model.provider}/{model.name} chose this intent", options)
    except TimeoutError:
        pass
    return answer, usage


def _alone(answer: RouteAnswer, agent: str | None, options: Options | None) -> RouteAnswer:
    chosen = options is not None and options.agent_type is not None
    return answer if agent is None or chosen else answer.model_copy(update={"pipeline": [agent]})


def _answer(intent: Intent, confidence: float, why: str, options: Options | None) -> RouteAnswer:
    if options is not None and options.agent_type is not None:
        pipeline, why = [str(options.agent_type)], f"{why}; you chose the agent"
    else:
        pipeline = list(PIPELINES[intent])
    # Validation would cost as much as the guess, and every value here is our own.
    return RouteAnswer.model_construct(intent=intent, confidence=confidence, pipeline=pipeline, why=why)
