"""The `brain` command. A command's code is imported only when it runs."""

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar import __version__
from sidecar.commands.errors import EXIT_BROKEN_PIPE, EXIT_CANCELLED, EXIT_MEANINGS, EXIT_USAGE, CommandFailed
from sidecar.config.errors import UserError

if TYPE_CHECKING:
    from sidecar.commands.table import Command

_HEAD = """\
Rainy Brain carries out tasks you describe in plain words, beside your editor.

Usage:
  brain                          work with the agents in this terminal
  brain --panel                  start the sidecar and open the panel
  brain run "run the tests"      run one task in this terminal
  brain COMMAND [OPTIONS]        see below
"""
_TAIL = """\
`brain COMMAND --help` shows a command's options and examples.
Tasks are stored in the data directory: --data-dir, else $BRAIN_DATA_DIR, else your system's default.
"""


def main(argv: list[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            # A terminal that can't show a character gets a question mark, not a traceback.
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        code = _dispatch(argv)
        sys.stdout.flush()
    except UserError as failure:
        sys.stderr.write(f"brain: {failure}\n")
        return failure.exit_code
    except FileNotFoundError:
        if _has_directory():
            raise
        sys.stderr.write("brain: The current directory no longer exists; nothing was done. Change to another one.\n")
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_CANCELLED
    except BrokenPipeError:
        # The reader is gone, as in `brain tasks | head`; keep the interpreter from flushing at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    return code


def _has_directory() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _dispatch(argv: list[str]) -> int:
    if argv[:1] in (["-V"], ["-v"], ["--version"]):
        sys.stdout.write(f"brain {__version__}\n")
        return 0
    from sidecar.commands.table import COMMANDS

    word, rest = (argv[0], argv[1:]) if argv else ("", [])
    if word in ("-h", "--help", "help"):
        if rest and rest[0] in COMMANDS:
            return _run(COMMANDS[rest[0]], ["--help"])
        sys.stdout.write(overview() + "\n")
        return 0
    if word in COMMANDS:
        return _run(COMMANDS[word], rest)
    if not word or word.startswith("-"):
        return _run_default(argv)
    raise CommandFailed(_unknown(word), EXIT_USAGE)


def _run(command: "Command", argv: list[str]) -> int:
    from sidecar.commands.parser import build, handler

    args = build(command).parse_args(argv)
    return handler(args.handler)(args)


def _run_default(argv: list[str]) -> int:
    from sidecar.commands.parser import build
    from sidecar.commands.table import COMMANDS, DEFAULT

    misplaced = next((word for word in build(DEFAULT).parse_known_args(argv)[1] if word in COMMANDS), None)
    if misplaced is not None:
        raise CommandFailed(f"Options come after the command: brain {misplaced} …", EXIT_USAGE)
    return _run(DEFAULT, argv)


def overview() -> str:
    from sidecar.commands.table import COMMANDS

    lines = [_HEAD]
    for group in dict.fromkeys(command.group for command in COMMANDS.values()):
        lines.append(f"{group}:")
        lines += [f"  {name:<12} {command.summary}" for name, command in COMMANDS.items() if command.group == group]
        lines.append("")
    lines.append("Exit codes:")
    lines += [f"  {code:<12} {meaning}" for code, meaning in EXIT_MEANINGS.items()]
    return "\n".join([*lines, "", _TAIL])


def _unknown(word: str) -> str:
    from difflib import get_close_matches

    from sidecar.commands.table import COMMANDS

    if " " in word:
        return f'To run a task, write: brain run "{word}"'
    near = get_close_matches(word, COMMANDS, 1)
    hint = f"Did you mean `brain {near[0]}`?" if near else "`brain --help` lists the commands."
    return f"Unknown command {word!r}. {hint}"


if __name__ == "__main__":
    sys.exit(main())
