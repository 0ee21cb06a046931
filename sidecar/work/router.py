"""Routes a task to an intent and its pipeline by its words, within microseconds, and says why.

What you choose comes first: `options.intent`, or a slash command that names an intent, a command of your own, or the
agent that works alone. The conversation, the selection, tracebacks and the form of a bug report count. If it stays open
whether a change is wanted, the pipeline may edit, but asks before its first edit; and an agent that may only read can
ask for the right to edit (`set_mode`).
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from sidecar.wire.intents import SLASH_COMMANDS, SLASH_PATTERN, Intent
from sidecar.wire.tasks import Context, Options, RouteAnswer
from sidecar.work.customizations import CustomCommand, Definitions
from sidecar.work.routing.cues import (
    agrees,
    asks_a_question,
    asks_and_orders,
    asks_for_other_options,
    asks_to_act,
    asks_to_explain,
    asks_to_publish,
    asks_to_repair,
    asks_to_repeat,
    asks_to_undo,
    declines,
    forbids_changes,
    forbids_code,
    names_next_run,
    orders_to_move,
    orders_to_run,
    reports_failure,
    says_tests_fail,
    without_trace,
)
from sidecar.work.routing.guess import Guess, guess

_SLASH = re.compile(SLASH_PATTERN)
#: Shorter names resemble too many words, so only their own letters count: swapped, doubled or left out.
_SHORT = 5
_SHORT_SIMILARITY = 0.65
_SIMILARITY = 0.8

PIPELINES: dict[Intent, tuple[str, ...]] = {
    "create_project": ("planner", "coder", "terminal", "reviewer", "docs"),
    "edit_code": ("coder", "reviewer"),
    "refactor_code": ("planner", "coder", "reviewer"),
    "run_command": ("terminal",),
    "explain_code": ("coder",),
    "review_code": ("reviewer",),
    "write_docs": ("docs", "reviewer"),
    "chat": ("coder",),
    "research": ("researcher",),
}
#: Intents whose agents get no tool that changes anything.
READ_ONLY: frozenset[Intent] = frozenset({"chat", "explain_code", "review_code", "research"})
_WRITING: frozenset[Intent] = frozenset(PIPELINES) - READ_ONLY - {"run_command"}
#: Below this confidence, the words leave it open.
SURE = 0.6
#: If a change is at least this likely, an unsure request gets the pipeline that may edit.
_MAY_WRITE = 0.15
#: Below this confidence, words about something that could be changed are hardly mere talk.
_TALK = 0.75
#: If it is more certain that only an answer is wanted, a traceback or a report doesn't change that.
_CERTAIN = 0.9


class Slash(NamedTuple):
    word: str
    rest: str


def parse_slash(task: str) -> Slash | None:
    text = task.lstrip()
    found = _SLASH.match(text)
    return Slash(found[1], text[found.end() :]) if found else None


def suggest_command(task: str, names: Iterable[str]) -> str | None:
    """The error for a task that starts with a misspelling of one of these commands, or is one unknown word.

    A sentence may start with a path or an address too ("/etc is not readable", "/reviews answers 500"), so of sentences
    only words that can hardly be anything else get a suggestion.
    """
    slash, known = parse_slash(task), frozenset(names)
    if slash is None or slash.word in known:
        return None
    nearest = _nearest(slash.word.lower(), known)
    if nearest is None and slash.rest.strip():
        return None
    meant = f"Did you mean /{nearest}? " if nearest else ""
    return (
        f"There is no command /{slash.word[:50]}. {meant}Nothing was started. If you meant a sentence, start it with "
        "another word."
    )


def _nearest(word: str, names: Iterable[str]) -> str | None:
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(word)
    similar: list[tuple[float, str]] = []
    for name in sorted(names):
        # People rarely mistype the first letter, and a plural is a name of its own.
        swapped = sorted(word) == sorted(name)
        if not swapped and (word[0] != name[0] or word == f"{name}s"):
            continue
        short = len(name) < _SHORT
        if short and not set(word) <= set(name):
            continue
        matcher.set_seq1(name)
        if (ratio := matcher.ratio()) >= (_SHORT_SIMILARITY if short else _SIMILARITY):
            similar.append((ratio, name))
    return max(similar, key=lambda pair: pair[0])[1] if similar else None


def route(
    task: str,
    options: Options | None = None,
    commands: Mapping[str, CustomCommand] | None = None,
    agents: Collection[str] = (),
    context: Context | None = None,
    *,
    follows: bool = False,
    before: Intent | None = None,
) -> RouteAnswer:
    """`follows`: something was said before in this conversation; `before`: the intent of that, if it is known.

    Undoing needs no agent, so its pipeline is empty.
    """
    chosen = options.intent if options is not None else None
    if chosen not in READ_ONLY and asks_to_undo(task, follows=follows):
        return RouteAnswer(intent="edit_code", confidence=0.99, pipeline=[], why="you ask to undo the last change")
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
    intent, confidence, why = _judge(task, context, follows=follows, before=before)
    return _answer(intent, confidence, why, options)


def route_prompt(written: str, options: Options) -> RouteAnswer:
    """A server wrote the prompt, so its words decide nothing, and the first edit asks."""
    return _answer("edit_code", SURE / 2, f"you wrote {written}", options)


def _judge(
    task: str, context: Context | None, *, follows: bool, before: Intent | None = None
) -> tuple[Intent, float, str]:
    """By cues first, then by words. When it stays open, the pipeline that may edit; its first edit asks."""
    task = task.replace("’", "'")
    if follows and before in _WRITING and asks_to_publish(task):
        return "run_command", 0.95, "you ask to publish what was done"
    if follows and agrees(task):
        return "edit_code", 0.95, "you agree to what was proposed"
    if follows and declines(task):
        return "chat", 0.95, "you don't want what was proposed"
    if before is not None and asks_to_repeat(task):
        return before, 0.95, "you ask for the same again"
    if follows and names_next_run(task):
        return "run_command", 0.95, "you name what to run next"
    if follows and asks_to_publish(task):
        return "run_command", 0.95, "you ask to publish what was done"
    if before == "run_command" and asks_for_other_options(task):
        return before, 0.95, "you ask to run it with other options"
    if asks_to_explain(task):
        return "explain_code", 0.95, "you name what to explain"
    if orders_to_move(task):
        return "refactor_code", 0.95, "you name a file and its new place"
    guessed = guess(task, follows=follows, before=before)
    if _is_banned(task, guessed.intent):
        intent = guessed.intent if guessed.intent in READ_ONLY else "explain_code"
        return intent, max(guessed.confidence, SURE), "you want nothing changed"
    if reports_failure(task):
        asked = guess(around) if (around := without_trace(task).strip()) else None
        if asked is None or asked.intent not in READ_ONLY or asked.confidence < _CERTAIN or asked.writes > 0.05:
            return "edit_code", max(guessed.writes, SURE), "it reports a failure"
    if guessed.intent == "run_command" and asks_to_repair(task):
        return "edit_code", max(guessed.writes, SURE), "it asks to run something and to repair what that shows"
    if guessed.intent in READ_ONLY and (asks_and_orders(task) or asks_to_repair(task)):
        return "edit_code", max(guessed.writes, SURE), "it asks about something and to change it"
    if follows and guessed.intent == "run_command" and says_tests_fail(task) and not orders_to_run(task):
        return "edit_code", SURE, "it says that something fails now"
    # About a selection, or after an answer, words that are no question are rarely mere talk.
    about = (follows or (context is not None and bool(context.selected_code))) and not asks_a_question(task)
    if _may_want_a_change(task, guessed, about=about):
        return "edit_code", min(guessed.writes, SURE - 0.01), "it may ask for a change; the first edit asks you"
    if follows and guessed.intent not in (*READ_ONLY, "run_command") and guessed.writes_alone < SURE:
        # That it follows an answer doesn't give the right to edit unasked.
        return guessed.intent, min(guessed.confidence, SURE - 0.01), f"{guessed.why}; the first edit asks you"
    return guessed.intent, guessed.confidence, guessed.why


def _may_want_a_change(task: str, guessed: Guess, *, about: bool) -> bool:
    """Whether words that seem to want none leave that open; `about` if there is something to change."""
    likely = guessed.writes >= _MAY_WRITE
    if guessed.intent == "run_command":
        # The words of a command are plain, so those that may as well ask for a change seldom mean one.
        unclear = (likely and guessed.confidence < _CERTAIN) or (about and guessed.confidence < SURE)
        return (unclear or asks_to_act(task)) and not orders_to_run(task)
    if guessed.intent not in READ_ONLY:
        return False
    sure = _TALK if about and guessed.intent == "chat" else SURE
    return (guessed.confidence < sure and (about or likely)) or asks_to_act(task)


def _is_banned(task: str, intent: Intent) -> bool:
    """A command may run, and documents or a new structure may be written, without what the ban is about."""
    if intent == "run_command":
        return False
    return forbids_changes(task) or (intent in (*READ_ONLY, "edit_code") and forbids_code(task))


def request_of(task: str, commands: Mapping[str, CustomCommand] | None = None, agents: Collection[str] = ()) -> str:
    """The request that agents get: the task without its slash command, or the text that the command expands to."""
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
    """Whether the words leave open what is wanted, so that the first edit asks."""
    return answer.confidence < SURE


def _alone(answer: RouteAnswer, agent: str | None, options: Options | None) -> RouteAnswer:
    chosen = options is not None and options.agent_type is not None
    return answer if agent is None or chosen else answer.model_copy(update={"pipeline": [agent]})


def _answer(intent: Intent, confidence: float, why: str, options: Options | None) -> RouteAnswer:
    if options is not None and options.agent_type is not None:
        pipeline, why = [str(options.agent_type)], f"{why}; you chose the agent"
    else:
        pipeline = list(PIPELINES[intent])
    # Every value here is our own, and the schema that a first validation builds takes 2 MB.
    return RouteAnswer.model_construct(intent=intent, confidence=confidence, pipeline=pipeline, why=why)
