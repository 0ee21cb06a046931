"""The person's own agents and slash commands: Markdown files with front matter.

They stand in `agents/` and `commands/` of the user's configuration directory, and in `.brain/` of a workspace; those of
a workspace are read only if the person trusts it.

    ---
    description: Writes SQL migrations
    role: smart
    tools: read_file, search_code, write_file
    maxIterations: 8
    ---
    You write migrations for …
"""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from sidecar.agents.roster import READ, ROSTER, RUN, WRITE, Agent
from sidecar.wire.tasks import Intent

log = logging.getLogger(__name__)

#: Where a workspace keeps its own.
IN_WORKSPACE = ".brain"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}")
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

    def said_with(self, words: str) -> str:
        if "$ARGUMENTS" in self.text:
            return self.text.replace("$ARGUMENTS", words)
        return f"{self.text}\n\n{words}" if words else self.text


@dataclass(frozen=True, slots=True)
class Custom:
    """What holds in one workspace."""

    agents: Mapping[str, Agent] = field(default_factory=lambda: ROSTER)
    commands: Mapping[str, Command] = field(default_factory=dict)


class Customs:
    def __init__(self, user: Path | None = None, trusted: Callable[[str], bool] = lambda workspace: False) -> None:
        self._user = user
        self._trusted = trusted
        self._read: dict[Path, tuple[tuple[object, ...], Custom]] = {}

    def of(self, workspace: str) -> Custom:
        """The roster and the person's own; a file that cannot be used is left out and logged."""
        places = [self._user] if self._user is not None else []
        own = Path(workspace) / IN_WORKSPACE
        if own.is_dir() and self._trusted(workspace):
            places.append(own)
        agents: dict[str, Agent] = {}
        commands: dict[str, Command] = {}
        for place in places:
            found = self._place(place)
            agents |= found.agents
            commands |= found.commands
        # Nobody takes the name of one of ours: what a pipeline does must not depend on a file.
        return Custom({**agents, **ROSTER}, commands)

    def trusts(self, workspace: str) -> bool:
        return self._trusted(workspace)

    def _place(self, place: Path) -> Custom:
        files = [file for kind in ("agents", "commands") for file in _files(place / kind)]
        stamp = tuple((file, file.stat().st_mtime_ns) for file in files)
        known = self._read.get(place)
        if known is not None and known[0] == stamp:
            return known[1]
        agents: dict[str, Agent] = {}
        commands: dict[str, Command] = {}
        for file in files:
            try:
                if file.parent.name == "agents":
                    agents[file.stem] = agent_of(file.stem, file.read_text(encoding="utf-8"))
                else:
                    commands[file.stem] = command_of(file.stem, file.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                log.warning("%s is not used: %s", file, error)
        custom = Custom(agents, commands)
        self._read[place] = (stamp, custom)
        return custom


def agent_of(name: str, text: str) -> Agent:
    front, body = front_matter(text)
    _check(name, front, {"description", "role", "tools", "maxiterations"})
    tools = tuple(re.findall(r"[\w-]+", front.get("tools", ""))) or READ
    if unknown := [tool for tool in tools if tool not in _TOOLS]:
        raise ValueError(f"there is no tool {unknown[0]}")
    role = front.get("role", "smart")
    if role not in ("fast", "smart", "instant"):
        raise ValueError(f"role is fast, smart or instant, not {role!r}")
    limit = int(front.get("maxiterations", "10"))
    if not 1 <= limit <= 100:
        raise ValueError("maxIterations is between 1 and 100")
    if not body:
        raise ValueError("it says nothing: the prompt stands below the front matter")
    return Agent(name, front.get("description", name), role, tools, limit, text=body)


def command_of(name: str, text: str) -> Command:
    front, body = front_matter(text)
    _check(name, front, {"description", "intent", "agent"})
    intent = front.get("intent")
    if intent is not None and intent not in _INTENTS:
        raise ValueError(f"there is no intent {intent!r}")
    if not body:
        raise ValueError("it says nothing: what is asked for stands below the front matter")
    return Command(name, body, front.get("description", ""), intent, front.get("agent"))  # type: ignore[arg-type]


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """`key: value` lines between two lines of dashes, and what follows them."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].strip() != "---":
        return {}, text.strip()
    front: dict[str, str] = {}
    for number, line in enumerate(lines[1:], start=1):
        if line.strip() == "---":
            return front, "\n".join(lines[number + 1 :]).strip()
        key, colon, value = line.partition(":")
        if line.strip() and not line.lstrip().startswith("#"):
            if not colon:
                raise ValueError(f"line {number + 1} is not `key: value`")
            front[key.strip().lower()] = value.strip().strip("\"'")
    raise ValueError("the front matter does not end: a second line of --- is missing")


def _check(name: str, front: Mapping[str, str], known: set[str]) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError("a name is of small letters, digits, - and _, and begins with a letter")
    if unknown := [key for key in front if key not in known]:
        raise ValueError(f"unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")


def _files(directory: Path) -> list[Path]:
    try:
        found = sorted(file for file in directory.iterdir() if file.suffix == ".md")[:_FILES]
        return [file for file in found if file.is_file() and not file.is_symlink() and file.stat().st_size <= _SIZE]
    except OSError:
        return []
