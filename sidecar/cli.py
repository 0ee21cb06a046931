"""The `brain` command: one module a command in `commands/`, imported when it is the one that was asked for."""

import argparse
import sys
from importlib import import_module

from sidecar import __version__

#: Each command's module and what it is for, in the order of the help.
COMMANDS = {
    "serve": ("serve", "start the sidecar"),
}

_EPILOG = """\
With no command, `brain` starts the sidecar and opens the panel.
"""


def main(argv: list[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    try:
        args = parser(argv).parse_args(argv)
        code: int = args.act(args)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone, as `brain tasks | head` does.
        sys.stderr.close()
        return 141
    return code


def parser(argv: list[str]) -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="brain",
        description="Rainy Brain: takes a task in plain words and carries it out beside your editor.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"brain {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    asked = next((word for word in argv if word in COMMANDS), None)
    for name, (module, summary) in COMMANDS.items():
        sub = commands.add_parser(name, help=summary, description=summary.capitalize() + ".")
        if asked in (name, None):
            import_module(f"sidecar.commands.{module}").define(sub)
    return top


if __name__ == "__main__":
    sys.exit(main())
