"""The types of the command table, and arguments that several commands share."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROLES = ("fast", "smart", "instant")
APPROVALS = ("ask", "edits", "auto", "readonly")
EFFORTS = ("low", "medium", "high")
GRANTS = ("command", "install", "checks", "spend", "host", "read")


class Argument(NamedTuple):
    """One call of `add_argument`; `choices` are loaded when a value is checked or completed."""

    names: tuple[str, ...]
    settings: dict[str, Any]
    choices: Callable[[], Sequence[str]] | None = None
    #: Arguments with the same word exclude each other.
    exclusive: str = ""


class Command(NamedTuple):
    name: str
    group: str
    summary: str
    about: str
    examples: str
    #: "module:function" below `sidecar.commands`.
    handler: str
    arguments: tuple[Argument, ...] = ()
    actions: tuple["Command", ...] = ()
    #: Options may come between positional arguments.
    intermixed: bool = False


def arg(*names: str, choices: Callable[[], Sequence[str]] | None = None, **more: Any) -> Argument:
    return Argument(names, more, choices)


def choice(name: str, metavar: str, options: Sequence[str], default: str | None = None, **more: Any) -> Argument:
    about = f"{', '.join(options[:-1])} or {options[-1]}" + (f" (default: {default})" if default else "")
    return Argument((name,), {"metavar": metavar, "default": default, "help": about, **more}, lambda: options)


def flag(*names: str, help: str) -> Argument:
    return arg(*names, action="store_true", help=help)


def approvals(help: str, default: str | None = "ask") -> Argument:
    return choice("--approvals", "MODE", APPROVALS, default=default, help=help)


def whole(text: str, least: int = 0, most: int | None = None) -> int:
    number = int(text) if text.removeprefix("-").isdecimal() else None
    if number is None or number < least or (most is not None and number > most):
        end = "" if most is None else f" to {most}"
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least}{end}")
    return number


def positive(text: str) -> int:
    return whole(text, 1)


def port(text: str) -> int:
    return whole(text, 0, 65_535)


def amount(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0")
    return number


def intents() -> Sequence[str]:
    from sidecar.wire.intents import INTENTS

    return INTENTS


def providers() -> Sequence[str]:
    from sidecar.config.keys import NAMES

    return tuple(NAMES)


DATA_DIR = arg(
    "--data-dir",
    type=Path,
    metavar="DIR",
    help="where tasks are stored (default: $BRAIN_DATA_DIR, else your system's data directory)",
)
WORKSPACE = arg(
    "--workspace",
    "-w",
    type=Path,
    default=Path(),
    metavar="DIR",
    help="directory to work in (default: current directory)",
)
USUAL_PORT = 3847
PORT = arg(
    "--port", type=port, default=USUAL_PORT, help="port to listen on, 0 for any free port (default: %(default)s)"
)
TASK_ID = arg(
    "id", metavar="ID", nargs="?", help="task id, or a unique prefix of it (default: the newest task in this directory)"
)
JSON = flag("--json", help="print JSON")
EVENTS_JSON = flag("--json", help="print the events only, one JSON object per line")
OUTPUTS = ("events", "json", "text")
OUTPUT = (
    Argument(
        ("--output", "-o"),
        {
            "metavar": "FORM",
            "help": "text: only the answer; json: the ended task as one JSON object; events: JSON lines",
        },
        lambda: OUTPUTS,
        exclusive="output",
    ),
    Argument(
        ("--print", "-p"),
        {"action": "store_const", "const": "text", "dest": "output", "help": "the same as --output text"},
        exclusive="output",
    ),
    Argument(
        ("--json",),
        {"action": "store_const", "const": "events", "dest": "output", "help": "the same as --output events"},
        exclusive="output",
    ),
)


def command(
    name: str,
    summary: str,
    about: str,
    examples: str,
    handler: str,
    *arguments: Argument,
    actions: tuple[Command, ...] = (),
    data_dir: bool = True,
    intermixed: bool = False,
) -> Command:
    """A command that does something itself takes `--data-dir`, unless it needs none."""
    taken = (*arguments, DATA_DIR) if handler and data_dir else arguments
    return Command(name, "", summary, about, examples, handler, taken, actions, intermixed)


def action(
    name: str,
    summary: str,
    about: str,
    handler: str,
    *arguments: Argument,
    examples: str = "",
    data_dir: bool = True,
    intermixed: bool = False,
) -> Command:
    return command(name, summary, about, examples, handler, *arguments, data_dir=data_dir, intermixed=intermixed)


def in_group(group: str, *commands: Command) -> tuple[Command, ...]:
    return tuple(each._replace(group=group) for each in commands)


MODEL = arg(
    "--model",
    "-m",
    action="append",
    metavar="[ROLE=]PROVIDER/NAME",
    default=[],
    help="model for every role, or for one of fast, smart, instant",
)

GRANT = (
    arg(
        "--workspace",
        default=".",
        metavar="REPOSITORY",
        help="directory, or a remote's URL (default: current directory)",
    ),
    arg("--for", dest="duration", metavar="TIME", help="how long it holds, such as 8h or 30d (default: until revoked)"),
    JSON,
)

DECISION = {"action": "store_const", "dest": "decision"}

REWIND = (
    arg(
        "--include",
        action="append",
        default=[],
        metavar="PATH",
        help="restore this file too, although it is unknown who changed it",
    ),
    flag("--preview", help="show what would change and change nothing"),
    JSON,
)
