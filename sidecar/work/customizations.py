"""The person's own agents and slash commands: Markdown files with front matter.

They stand in `agents/` and `commands/` of the user's configuration directory, and in `.brain/` of a workspace; those of
a workspace are read only if the person trusts it.

    ---
    description: Writes SQL migrations
    role: smart
    model: anthropic/claude-sonnet-4-5
    tools: read_file, search_code, write_file
    maxIterations: 8
    ---
    You write migrations for …

Which model is asked is the person's choice, so `model` counts in their own files only: a workspace does not decide who
gets to see it.
"""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import get_args

from sidecar.wire.intents import Intent
from sidecar.work.front_matter import front_matter
from sidecar.work.roster import READ, ROSTER, RUN, WRITE, Agent

log = logging.getLogger(__name__)

#: Where a workspace keeps its own.
IN_WORKSPACE = ".brain"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}")
_MODEL = re.compile(r"[\w.-]+/\S+")
_FILES = 200
_SIZE = 64 * 1024
_TOOLS = frozenset((*READ, *WRITE, *RUN))
_INTENTS = frozenset(get_args(Intent))


@dataclass(frozen=True, slots=True)
class Command:
    """`/name words` stands for `text`, with the words in the place of `$ARGUMENTS`, or after it."""

    name: str
    text: str
    description: str = ""
    intent: Intent | None = None
    agent: str | None = None

    def expand(self, words: str) -> str:
        if "$ARGUMENTS" in self.text:
            return self.text.replace("$ARGUMENTS", words)
        return f"{self.text}\n\n{words}" if words else self.text


@dataclass(frozen=True, slots=True)
class Definitions:
    """What holds in one workspace."""

    agents: Mapping[str, Agent] = field(default_factory=lambda: ROSTER)
    commands: Mapping[str, Command] = field(default_factory=dict)
    #: What is wrong with files that are not used, by `agents/name` and `commands/name`.
    problems: Mapping[str, str] = field(default_factory=dict)


class Customizations:
    def __init__(self, user: Path | None = None, trusted: Callable[[str], bool] = lambda workspace: False) -> None:
        self._user = user
        self._trusted = trusted
        self._read: dict[Path, tuple[tuple[object, ...], Definitions]] = {}

    def of(self, workspace: str) -> Definitions:
        """The roster and the person's own; a file that cannot be used is left out, and it is said why."""
        places = [self._user] if self._user is not None else []
        own = Path(workspace) / IN_WORKSPACE
        if own.is_dir() and self._trusted(workspace):
            places.append(own)
        agents: dict[str, Agent] = {}
        commands: dict[str, Command] = {}
        problems: dict[str, str] = {}
        for place in places:
            found = self._place(place, own=place == self._user)
            agents |= found.agents
            commands |= found.commands
            problems |= found.problems
        return Definitions({**agents, **ROSTER}, commands, problems)

    def trusts(self, workspace: str) -> bool:
        return self._trusted(workspace)

    def _place(self, place: Path, *, own: bool) -> Definitions:
        files = [file for kind in ("agents", "commands") for file in _files(place / kind)]
        stamp = tuple(files)
        known = self._read.get(place)
        if known is not None and known[0] == stamp:
            return known[1]
        agents: dict[str, Agent] = {}
        commands: dict[str, Command] = {}
        problems: dict[str, str] = {}
        for file, size, _ in files:
            try:
                if size > _SIZE:
                    raise ValueError(f"it has {size:,} bytes, and at most {_SIZE:,} are read")
                text = file.read_text(encoding="utf-8")
                if file.parent.name == "agents":
                    agents[file.stem] = agent_of(file.stem, text, own=own)
                else:
                    commands[file.stem] = command_of(file.stem, text)
            except UnicodeDecodeError:
                problems[f"{file.parent.name}/{file.stem}"] = f"{file} is not used: it is not in UTF-8"
            except (OSError, ValueError) as error:
                problems[f"{file.parent.name}/{file.stem}"] = f"{file} is not used: {error}"
        for problem in problems.values():
            log.warning(problem)
        custom = Definitions(agents, commands, problems)
        self._read[place] = (stamp, custom)
        return custom


def agent_of(name: str, text: str, *, own: bool = True) -> Agent:
    """`own`: whether it is the person's own file, and not one of a workspace."""
    front, body = front_matter(text)
    _check(name, front, {"name", "description", "role", "model", "tools", "maxiterations"})
    if name in ROSTER:
        # What a pipeline does must not depend on a file.
        raise ValueError(f"{name} is one of ours; give it another name")
    tools = tuple(re.findall(r"[\w-]+", front.get("tools", ""))) or READ
    if unknown := [tool for tool in tools if tool not in _TOOLS]:
        raise ValueError(f"there is no tool {unknown[0]}")
    role = front.get("role", "smart")
    if role not in ("fast", "smart", "instant"):
        raise ValueError(f"role is fast, smart or instant, not {role!r}")
    model = front.get("model", "")
    if model and not own:
        raise ValueError("a workspace does not choose the model; put the file into your own `agents/`")
    if model and not _MODEL.fullmatch(model):
        raise ValueError(f"model is provider/name, not {model!r}")
    limit = front.get("maxiterations", "10")
    if not limit.isdecimal() or not 1 <= int(limit) <= 100:
        raise ValueError("maxIterations is a number between 1 and 100")
    if not body:
        raise ValueError("it says nothing: the prompt stands below the front matter")
    return Agent(name, front.get("description", name), role, tools, int(limit), text=body, model=model)


def command_of(name: str, text: str) -> Command:
    front, body = front_matter(text)
    _check(name, front, {"name", "description", "intent", "agent"})
    intent = front.get("intent")
    if intent is not None and intent not in _INTENTS:
        raise ValueError(f"there is no intent {intent!r}")
    if not body:
        raise ValueError("it says nothing: what is asked for stands below the front matter")
    return Command(name, body, front.get("description", ""), intent, front.get("agent"))  # type: ignore[arg-type]


def _check(name: str, front: Mapping[str, str], known: set[str]) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError("a name is of small letters, digits, - and _, and begins with a letter")
    if unknown := [key for key in front if key not in known]:
        raise ValueError(f"unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")
    if front.get("name", name) != name:
        raise ValueError(f"its name is that of its file, {name}, and not {front['name']!r}")


def _files(directory: Path) -> list[tuple[Path, int, int]]:
    """The files there, each with its size and the time of its last change. A link may lead anywhere: it is none."""
    try:
        found = sorted(file for file in directory.iterdir() if file.suffix == ".md")[:_FILES]
        states = [(file, file.lstat()) for file in found]
    except OSError:
        return []
    return [(file, state.st_size, state.st_mtime_ns) for file, state in states if S_ISREG(state.st_mode)]
