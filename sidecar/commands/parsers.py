"""The parser of one command. Only that command's module is imported."""

import argparse
from importlib import import_module
from typing import NoReturn

from sidecar.commands import ALONE, COMMANDS
from sidecar.commands.errors import CommandFailed
from sidecar.commands.exits import EXIT_USAGE

_SURPLUS = "unrecognized arguments: "


class Parser(argparse.ArgumentParser):
    """Says of what it cannot place what was probably meant, instead of everything that it could have been."""

    def error(self, message: str) -> NoReturn:
        if not message.startswith(_SURPLUS):
            super().error(message)
        surplus = message.removeprefix(_SURPLUS).split(" ")
        option = next((word.partition("=")[0] for word in surplus if word.startswith("-")), None)
        if option is not None:
            raise CommandFailed(f"There is no option {option}. {self._nearest(option)}", EXIT_USAGE)
        told = f"{surplus[0]!r} is one word too many"
        if words := next((action.dest for action in self._actions if action.dest in ("task", "text")), None):
            told += f". The {words} is one argument: put it between quotation marks"
        raise CommandFailed(f"{told}. `{self.prog} --help` has examples.", EXIT_USAGE)

    def _nearest(self, option: str) -> str:
        from difflib import get_close_matches

        known = [name for action in self._actions for name in action.option_strings if name.startswith("--")]
        near = get_close_matches(option, known, 1)
        return f"Did you mean {near[0]}?" if near else f"`{self.prog} --help` lists them."


def parser(name: str) -> argparse.ArgumentParser:
    module = import_module(f"sidecar.commands.{COMMANDS[name].module if name in COMMANDS else name}")
    made = Parser(
        prog="brain" if name == ALONE else f"brain {name}",
        description=module.ABOUT,
        epilog=module.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.define(made)
    return made
