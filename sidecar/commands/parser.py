"""Parsers built from the command table, and the values of arguments that many commands share."""

import argparse
import os
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from textwrap import fill, indent
from typing import Any, NoReturn

from sidecar.client.client import Client, Json
from sidecar.commands.errors import EXIT_USAGE, CommandFailed
from sidecar.commands.table import Command
from sidecar.config.paths import default_data_dir

_EXTRA = "unrecognized arguments: "
_PLAINER = {"the following arguments are required": "missing", "expected one argument": "needs a value"}
_WIDTH = 100
_FULL_ID = re.compile(r"t_[0-9a-f]{20}")
_PAGE = 200


class Parser(argparse.ArgumentParser):
    """Answers a mistake with one line and the nearest option, instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        if not message.startswith(_EXTRA):
            problem = message.removeprefix("argument ")
            for theirs, ours in _PLAINER.items():
                problem = problem.replace(theirs, ours)
            raise CommandFailed(f"{problem[:1].upper()}{problem[1:]}. See `{self.prog} --help`.", EXIT_USAGE)
        extra = message.removeprefix(_EXTRA).split(" ")
        option = next((word.partition("=")[0] for word in extra if word.startswith("-")), None)
        if option is not None:
            raise CommandFailed(f"Unknown option {option}. {self._nearest(option)}", EXIT_USAGE)
        problem = f"Unexpected argument {extra[0]!r}"
        if words := next((action.dest for action in self._actions if action.dest in ("task", "text")), None):
            problem += f". Put the {words} in quotation marks"
        raise CommandFailed(f"{problem}. See `{self.prog} --help`.", EXIT_USAGE)

    def _nearest(self, option: str) -> str:
        from difflib import get_close_matches

        known = [name for action in self._actions for name in action.option_strings if name.startswith("--")]
        # Without the dashes, which make all options alike.
        near = get_close_matches(option.lstrip("-"), [name.lstrip("-") for name in known], 1)
        return f"Did you mean --{near[0]}?" if near else f"`{self.prog} --help` lists them."


def build(command: Command) -> argparse.ArgumentParser:
    parser = Parser(
        prog=f"brain {command.name}".rstrip(),
        description="\n\n".join(fill(part, _WIDTH) for part in command.about.split("\n\n")),
        epilog=f"examples:\n{indent(command.examples, '  ')}\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _define(parser, command)
    if command.actions:
        needed = not command.handler
        actions = parser.add_subparsers(title="actions", metavar="ACTION", required=needed, help="what to do")
        for action in command.actions:
            _define(
                actions.add_parser(action.name, help=action.summary, description=fill(action.about, _WIDTH)), action
            )
    if command.intermixed:
        parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]
    return parser


def handler(name: str) -> Callable[[argparse.Namespace], int]:
    """The function that runs a command; importing its module is the slow part of most commands."""
    module, _, function = name.partition(":")
    found: Callable[[argparse.Namespace], int] = getattr(import_module(f"sidecar.commands.{module}"), function)
    return found


def _define(parser: argparse.ArgumentParser, command: Command) -> None:
    groups: dict[str, argparse._MutuallyExclusiveGroup] = {}
    for argument in command.arguments:
        place: argparse._ActionsContainer = parser
        if argument.exclusive:
            if argument.exclusive not in groups:
                groups[argument.exclusive] = parser.add_mutually_exclusive_group()
            place = groups[argument.exclusive]
        more: dict[str, Any] = {"type": _one_of(argument.choices)} if argument.choices is not None else {}
        place.add_argument(*argument.names, **argument.settings, **more)
    if command.handler:
        parser.set_defaults(handler=command.handler)


def _one_of(choices: Callable[[], Sequence[str]]) -> Callable[[str], str]:
    """Loads the choices only when there is a value to check."""

    def check(text: str) -> str:
        if text not in choices():
            raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(choices())}")
        return text

    return check


def data_dir(args: argparse.Namespace) -> Path:
    named: Path | None = args.data_dir
    return (named or default_data_dir(os.environ)).absolute()


def workspace(args: argparse.Namespace) -> Path:
    path: Path = args.workspace.absolute()
    if not path.is_dir():
        raise CommandFailed(f"No such directory: {path}", EXIT_USAGE)
    return path


def directories(place: Path) -> list[str]:
    """A directory and those above it: the workspaces of tasks that work here."""
    return [str(each) for each in (place, *place.parents)]


def newest_here(client: Client, place: Path | None = None, *, anywhere: bool = False) -> str:
    """The newest task that works in this directory; with `anywhere`, in any if there is none here."""
    place = place or Path.cwd()
    query = {"limit": 1, "archived": "true"}
    found = client.get("/api/brain/tasks", {**query, "workspace": directories(place)})["tasks"]
    if not found and anywhere:
        found = client.get("/api/brain/tasks", query)["tasks"]
    if not found:
        raise CommandFailed(f"No task worked in {place}. `brain tasks` lists tasks; name one by its id.")
    name: str = found[0]["id"]
    return name


def task_id(client: Client, given: str | None, *, anywhere: bool = False) -> str:
    """The one task whose id starts with `given`; without it, the newest task in this directory."""
    if not given:
        return newest_here(client, anywhere=anywhere)
    wanted = given if given.startswith("t_") else f"t_{given}"
    if _FULL_ID.fullmatch(wanted):
        return wanted
    found: list[Json] = []
    before: str | None = None
    while True:
        page = client.get("/api/brain/tasks", {"limit": _PAGE, "before": before, "archived": "true"})
        found += [task for task in page["tasks"] if task["id"].startswith(wanted)]
        before = page["nextBefore"]
        if before is None:
            break
    if not found:
        raise CommandFailed(f'No task {given}. `brain tasks` lists tasks; brain run "…" starts one.')
    if len(found) > 1:
        named = ", ".join(f"{task['id'][: max(len(wanted) + 4, 10)]} ({task['task'][:30]!r})" for task in found[:5])
        raise CommandFailed(f"{given} matches {len(found)} tasks: {named}. Give more of the id.", EXIT_USAGE)
    name: str = found[0]["id"]
    return name
