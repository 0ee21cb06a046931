"""The parser of one command. Only that command's module is imported."""

import argparse
from importlib import import_module

from sidecar.commands import ALONE, COMMANDS


def parser(name: str) -> argparse.ArgumentParser:
    module = import_module(f"sidecar.commands.{COMMANDS[name].module if name in COMMANDS else name}")
    made = argparse.ArgumentParser(
        prog="brain" if name == ALONE else f"brain {name}",
        description=module.ABOUT,
        epilog=module.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.define(made)
    return made
