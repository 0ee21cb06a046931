"""Your own agents and slash commands: Markdown files with front matter.

They are in `agents/` and `commands/` of your configuration directory, and of `.brain/` in a workspace that you trust.

    ---
    description: Writes SQL migrations
    role: smart
    model: anthropic/claude-sonnet-4-5
    tools: read_file, search_code, write_file
    maxIterations: 8
    ---
    You write migrations for …

Only files in your configuration directory may choose a `model`: a workspace doesn't decide who gets to see it. The same
holds for external agents, programs that speak ACP: `command: gemini --acp`, and what the program may reach beside the
workspace: `network: yes`, `keys` (names of environment variables), `reads` and `writes` (paths).
"""

import logging
import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from stat import S_ISREG
from typing import get_args

from sidecar.config.paths import open_regular
from sidecar.wire.intents import Intent
from sidecar.work.roster import FURTHER, READ, ROSTER, RUN, WRITE, Agent
from tools.text import shorten

log = logging.getLogger(__name__)

IN_WORKSPACE = ".brain"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}")
_QUOTED = re.compile(r"""(["'])(.*)\1""")
_MODEL = re.compile(r"[\w.-]+/\S+")
_MAX_FILES = 200
_MAX_BYTES = 64 * 1024
_TOOLS = frozenset((*READ, *WRITE, *RUN, *FURTHER))
#: Keys of an external agent.
_FOREIGN = ("command", "network", "keys", "reads", "writes")
_INTENTS = frozenset(get_args(Intent))
#: Your standards for all projects, beside `config.toml`.
STANDARDS = "standards.md"
MAX_STANDARDS = 8_000
RULES_BYTES = 32_768


@dataclass(frozen=True, slots=True)
class CustomCommand:
    """`/name words` expands to `text`, with the words in folder of `$ARGUMENTS` or after it."""

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
    """The agents and commands of one workspace, built-in agents included."""

    agents: Mapping[str, Agent] = field(default_factory=lambda: ROSTER)
    commands: Mapping[str, CustomCommand] = field(default_factory=dict)
    #: Why files are not used, by `agents/name` and `commands/name`.
    problems: Mapping[str, str] = field(default_factory=dict)


class Customizations:
    """`changed`: whether a trusted workspace would run something else than when you trusted it."""

    def __init__(
        self,
        user: Path | None = None,
        trusted: Callable[[str], bool] = lambda workspace: False,
        changed: Callable[[str], bool] = lambda workspace: False,
        rules_bytes: int = RULES_BYTES,
        shipped: Path | None = None,
    ) -> None:
        self._user = user
        #: Agents that come with the program; your own of the same name replace them.
        self._shipped = shipped
        #: Bytes of a trusted repository's rules that models get.
        self.rules_bytes = rules_bytes
        self._trusted = trusted
        self.has_changed = changed
        self._read: dict[Path, tuple[tuple[object, ...], Definitions]] = {}

    def load(self, workspace: str) -> Definitions:
        """The built-in agents and your own. Files that can't be used are left out and listed in `problems`."""
        folders = [folder for folder in (self._shipped, self._user) if folder is not None]
        own = Path(workspace) / IN_WORKSPACE
        if own.is_dir() and self._trusted(workspace):
            folders.append(own)
        agents: dict[str, Agent] = {}
        commands: dict[str, CustomCommand] = {}
        problems: dict[str, str] = {}
        for folder in folders:
            found = self._load_folder(folder, own=folder != own)
            agents |= found.agents
            commands |= found.commands
            problems |= found.problems
        return Definitions({**agents, **ROSTER}, commands, problems)

    def standards(self) -> str:
        """Your own standards for all projects, from `standards.md` of the configuration directory."""
        if self._user is None:
            return ""
        try:
            with (self._user / STANDARDS).open(encoding="utf-8", errors="replace") as file:
                text = file.read(MAX_STANDARDS + 1).strip()
        except OSError:
            return ""
        cut = shorten(text, MAX_STANDARDS) if len(text) > MAX_STANDARDS else text
        return f"The user's own standards:\n{cut}" if cut else ""

    def trusts(self, workspace: str) -> bool:
        return self._trusted(workspace)

    def _load_folder(self, folder: Path, *, own: bool) -> Definitions:
        known = self._read.get(folder)
        if known is not None and folder == self._shipped:
            return known[1]  # it doesn't change while the program runs
        files = [file for kind in ("agents", "commands") for file in _files(folder / kind)]
        stamp = tuple(files)
        if known is not None and known[0] == stamp:
            return known[1]
        agents: dict[str, Agent] = {}
        commands: dict[str, CustomCommand] = {}
        problems: dict[str, str] = {}
        for file, size, _ in files:
            try:
                if size > _MAX_BYTES:
                    raise ValueError(f"it has {size:,} bytes, and at most {_MAX_BYTES:,} are allowed")
                with os.fdopen(open_regular(file, follow=False), encoding="utf-8") as stream:
                    text = stream.read(_MAX_BYTES)
                if file.parent.name == "agents":
                    agents[file.stem] = parse_agent(file.stem, text, own=own)
                else:
                    commands[file.stem] = parse_command(file.stem, text)
            except UnicodeDecodeError:
                problems[f"{file.parent.name}/{file.stem}"] = f"{file} is not used: it is not UTF-8"
            except (OSError, ValueError) as error:
                problems[f"{file.parent.name}/{file.stem}"] = f"{file} is not used: {error}"
        for problem in problems.values():
            log.warning(problem)
        definitions = Definitions(agents, commands, problems)
        self._read[folder] = (stamp, definitions)
        return definitions


def parse_agent(name: str, text: str, *, own: bool = True) -> Agent:
    """`own`: the file is in your configuration directory, not in a workspace."""
    front, body = parse_front_matter(text)
    _check_front_matter(name, front, {"name", "description", "role", "model", "tools", "maxiterations", *_FOREIGN})
    if name in ROSTER:
        # Pipelines must not depend on files.
        raise ValueError(f"{name} is a built-in agent; choose another name")
    tools = tuple(re.findall(r"[\w-]+", front.get("tools", ""))) or READ
    if unknown := [tool for tool in tools if tool not in _TOOLS]:
        raise ValueError(f"there is no tool {unknown[0]}")
    role = front.get("role", "smart")
    if role not in ("fast", "smart", "instant"):
        raise ValueError(f"role must be fast, smart or instant, not {role!r}")
    model = front.get("model", "")
    if model and not own:
        raise ValueError("a workspace may not choose the model; move the file to your own `agents/`")
    if model and not _MODEL.fullmatch(model):
        raise ValueError(f"model must be provider/name, not {model!r}")
    limit = front.get("maxiterations", "10")
    if not limit.isdecimal() or not 1 <= int(limit) <= 100:
        raise ValueError("maxIterations must be a number between 1 and 100")
    if not body and "command" not in front:
        raise ValueError("it is empty: the prompt belongs below the front matter")
    agent = Agent(name, front.get("description", name), role, tools, int(limit), text=body, model=model)
    if used := [key for key in _FOREIGN if key in front]:
        if not own:
            raise ValueError(f"a workspace may not name a program ({used[0]}); move the file to your own `agents/`")
        return _with_command(agent, front)
    return agent


def _with_command(agent: Agent, front: Mapping[str, str]) -> Agent:
    """An external agent, which speaks ACP."""
    command = tuple(shlex.split(front.get("command", "")))
    if not command:
        raise ValueError("command is missing: the program that speaks ACP, with its arguments")
    if front.get("network", "no") not in ("yes", "no"):
        raise ValueError("network must be yes or no")
    paths = {key: _list(front, key) for key in ("reads", "writes")}
    if wrong := [path for listed in paths.values() for path in listed if not path.startswith(("/", "~/"))]:
        raise ValueError(f"{wrong[0]} is no absolute path")
    return replace(
        agent,
        command=command,
        network=front.get("network") == "yes",
        keys=_list(front, "keys"),
        reads=paths["reads"],
        writes=paths["writes"],
    )


def _list(front: Mapping[str, str], key: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in front.get(key, "").split(",") if each.strip())


def parse_command(name: str, text: str) -> CustomCommand:
    front, body = parse_front_matter(text)
    _check_front_matter(name, front, {"name", "description", "intent", "agent"})
    intent = front.get("intent")
    if intent is not None and intent not in _INTENTS:
        raise ValueError(f"there is no intent {intent!r}")
    if not body:
        raise ValueError("it is empty: the request belongs below the front matter")
    return CustomCommand(name, body, front.get("description", ""), intent, front.get("agent"))  # type: ignore[arg-type]


def _check_front_matter(name: str, front: Mapping[str, str], known: set[str]) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError("a name has lowercase letters, digits, - and _, and starts with a letter")
    if unknown := [key for key in front if key not in known]:
        raise ValueError(f"unknown key {unknown[0]!r}; known keys: {', '.join(sorted(known))}")
    if front.get("name", name) != name:
        raise ValueError(f"its name must be that of its file, {name}, not {front['name']!r}")


def _files(directory: Path) -> list[tuple[Path, int, int]]:
    """The files, each with size and modification time. Links may lead anywhere, so they don't count."""
    try:
        names = sorted(name for name in os.listdir(directory) if name.endswith(".md"))  # noqa: PTH208 - with every task
        found = [directory / name for name in names[:_MAX_FILES]]
        states = [(file, file.lstat()) for file in found]
    except OSError:
        return []
    return [(file, state.st_size, state.st_mtime_ns) for file, state in states if S_ISREG(state.st_mode)]


def parse_front_matter(text: str) -> tuple[dict[str, str], str]:
    """`key: value` lines between two lines of dashes, by lowercase key, and the text after them.

    Lists and long texts may take several lines; list items are joined with commas.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].strip() != "---":
        return {}, text.strip()
    front: dict[str, list[str]] = {}
    key = ""
    for number, line in enumerate(lines[1:], start=1):
        if line.strip() == "---":
            return {name: _joined(values) for name, values in front.items()}, "\n".join(lines[number + 1 :]).strip()
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if key and line.startswith((" ", "\t", "- ")):
            front[key].append(line.strip())
            continue
        key, colon, value = line.partition(":")
        if not colon:
            raise ValueError(f"line {number + 1} is not `key: value`")
        key = key.strip().lower()
        front[key] = [value.strip()]
    raise ValueError("the front matter has no end: the second --- line is missing")


def _joined(values: list[str]) -> str:
    """A value with its further lines: list items, or a text after `>` or `|`."""
    first, *more = values
    if more and all(line.startswith("- ") for line in more):
        return ", ".join(_plain(line[2:]) for line in more)
    return " ".join([*([] if more and first[:1] in (">", "|") else [_plain(first)]), *more])


def _plain(value: str) -> str:
    quoted = _QUOTED.fullmatch(value.strip())
    return quoted[2] if quoted else value.strip()
