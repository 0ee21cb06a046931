"""From a sentence to an intent and its pipeline, by its words, in microseconds, with the reason in words.

The person's own word comes first: `options.intent`, or a slash that begins the task and names a kind of task, a command
of their own, or the agent that is to do it alone. A language model is asked only where the words leave it open
(`unsure`), and only a real one.
"""

import asyncio
from collections.abc import Collection, Mapping

from sidecar.models.port import Model, Reply, Request, Stop, UserTurn
from sidecar.wire.tasks import Intent, Options, RouteAnswer, Usage
from sidecar.work.customizations import Command, Definitions
from sidecar.work.routing.guess import INTENTS, guess
from sidecar.work.suggestions import SLASH, suggest_command

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
SLASHES: dict[str, Intent] = {
    **{intent: intent for intent in INTENTS},
    "ask": "chat",
    "explain": "explain_code",
    "find": "explain_code",
    "edit": "edit_code",
    "fix": "edit_code",
    "refactor": "refactor_code",
    "new": "create_project",
    "create": "create_project",
    "run": "run_command",
    "review": "review_code",
    "docs": "write_docs",
    "document": "write_docs",
}
#: Slash commands that are a part of what is said: “/explain the parser” asks to explain the parser.
_VERBS = {name: name for name in ("explain", "find", "fix", "refactor", "create", "run", "review", "document")}
_VERBS |= {"new": "create", "docs": "document"}
#: Those that may be followed by a verb of its own: “/refactor rename a to b”.
_WIDE = frozenset({"fix", "refactor", "docs", "document"})
#: Below this a language model may know better.
SURE = 0.6
_PATIENCE = 8.0
_QUESTION = (
    "You sort what people say to a coding assistant. Answer with one word of these and nothing else: "
    + ", ".join(INTENTS)
    + ". chat: about no code of this project. explain_code: asks about the project, wants no change. run_command: "
    "wants something run."
)


def route(
    task: str,
    options: Options | None = None,
    commands: Mapping[str, Command] | None = None,
    agents: Collection[str] = (),
) -> RouteAnswer:
    if options is not None and options.intent is not None:
        return _answer(options.intent, 1.0, "you chose this intent", options)
    slash = SLASH.match(task.lstrip())
    if slash:
        own = (commands or {}).get(slash[1])
        if own is not None:
            return _own(own, options)
        if intent := SLASHES.get(slash[1]):
            return _answer(intent, 1.0, f"you wrote /{slash[1]}", options)
        if slash[1] in agents and (rest := task.lstrip()[slash.end() :].strip()):
            answer = _answer(guess(rest).intent, 1.0, f"you wrote /{slash[1]}", options)
            chosen = options is not None and options.agent_type is not None
            return answer if chosen else answer.model_copy(update={"pipeline": [slash[1]]})
    guessed = guess(task)
    return _answer(guessed.intent, guessed.confidence, guessed.why, options)


def request_of(task: str, commands: Mapping[str, Command] | None = None, agents: Collection[str] = ()) -> str:
    """What the agents are asked: the task without its slash command, or what that command stands for."""
    slash = SLASH.match(task.lstrip())
    if slash is None:
        return task
    rest = task.lstrip()[slash.end() :]
    if own := (commands or {}).get(slash[1]):
        return own.expand(rest.strip())
    if slash[1] in agents and slash[1] not in SLASHES and rest.strip():
        return rest
    if slash[1] not in SLASHES or not rest.strip():
        return task
    verb = _VERBS.get(slash[1], "")
    whole = rest.lower().startswith(verb) or (slash[1] in _WIDE and guess(rest).intent == SLASHES[slash[1]])
    return rest if whole else f"{verb} {rest}"


def suggest_for(task: str, custom: Definitions) -> str | None:
    """What to say of a task that begins with a misspelled command or agent, ours or the person's own."""
    # A command whose file cannot be used is one all the same: what is wrong with it is said when it is carried out.
    unusable = (name.removeprefix("commands/") for name in custom.problems if name.startswith("commands/"))
    return suggest_command(task, (*SLASHES, *custom.commands, *custom.agents, *unusable))


def unsure(answer: RouteAnswer) -> bool:
    return answer.confidence < SURE


async def second_opinion(task: str, answer: RouteAnswer, model: Model, options: Options) -> tuple[RouteAnswer, Usage]:
    """What a language model says, if it says it soon and in the words that it was given; else what the words said.

    And what it cost to ask.
    """
    request = Request("router", _QUESTION, [UserTurn(text=task[:2_000])])
    usage = Usage()
    try:
        async with asyncio.timeout(_PATIENCE):
            async for part in model.stream(request):
                if isinstance(part, Reply):
                    usage = part.usage
                    said = part.text.strip().strip(".`\"'").lower() if part.stop is Stop.END else ""
                    if said in PIPELINES:
                        answer = _answer(said, 0.8, f"{model.provider}/{model.name} took it for this", options)
    except TimeoutError:
        pass
    return answer, usage


def _own(command: Command, options: Options | None) -> RouteAnswer:
    why = f"you wrote /{command.name}"
    answer = _answer(command.intent or "edit_code", 1.0, why, options)
    if command.agent is not None and (options is None or options.agent_type is None):
        return answer.model_copy(update={"pipeline": [command.agent]})
    return answer


def _answer(intent: Intent, confidence: float, why: str, options: Options | None) -> RouteAnswer:
    if options is not None and options.agent_type is not None:
        pipeline, why = [str(options.agent_type)], f"{why}; you chose the agent"
    else:
        pipeline = list(PIPELINES[intent])
    # Our own words: there is nothing to validate, and validation would cost as much as the guess.
    return RouteAnswer.model_construct(intent=intent, confidence=confidence, pipeline=pipeline, why=why)
