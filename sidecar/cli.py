"""The `brain` command: one module a command in `commands/`, imported when it is the one that was asked for."""

import contextlib
import os
import sys

from sidecar import __version__
from sidecar.commands import ALONE, COMMANDS, GROUPS
from sidecar.commands.errors import CommandFailed
from sidecar.commands.exits import EXIT_BROKEN_PIPE, EXIT_CANCELLED, EXIT_USAGE, MEANINGS
from sidecar.commands.parsers import parser

_HEAD = """\
Rainy Brain takes a task in plain words and carries it out beside your editor.

  brain                          start the sidecar and open the panel
  brain run "run the tests"      one task, here in the terminal
  brain tasks                    what was done, and what is going on
"""
_TAIL = """\
Every command has its own help: brain run --help
Tasks live in the data directory: --data-dir, else $BRAIN_DATA_DIR, else your system's place for it.
"""


def main(argv: list[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            # A terminal that cannot show a character gets a question mark, not a traceback.
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        code = _dispatch(argv)
        sys.stdout.flush()
    except CommandFailed as failure:
        sys.stderr.write(f"brain: {failure}\n")
        return failure.exit_code
    except KeyboardInterrupt:
        return EXIT_CANCELLED
    except BrokenPipeError:
        # Whoever read our output has gone, as in `brain tasks | head`. Nothing more can be said, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    return code


def _dispatch(argv: list[str]) -> int:
    word, rest = (argv[0], argv[1:]) if argv else ("", [])
    if word in ("-h", "--help", "help"):
        if rest and rest[0] in COMMANDS:
            return _dispatch([rest[0], "--help"])
        sys.stdout.write(overview() + "\n")
        return 0
    if word in ("-V", "--version"):
        sys.stdout.write(f"brain {__version__}\n")
        return 0
    if word in COMMANDS:
        return _act(word, rest)
    if not word or word.startswith("-"):
        misplaced = next((word for word in parser(ALONE).parse_known_args(argv)[1] if word in COMMANDS), None)
        if misplaced is not None:
            raise CommandFailed(f"Options come after the command: brain {misplaced} …", EXIT_USAGE)
        return _act(ALONE, argv)
    raise CommandFailed(_unknown(word), EXIT_USAGE)


def _act(name: str, argv: list[str]) -> int:
    args = parser(name).parse_args(argv)
    code: int = args.act(args)
    return code


def overview() -> str:
    lines = [_HEAD]
    for title, names in GROUPS.items():
        lines.append(f"{title}:")
        lines += [f"  {name:<12} {COMMANDS[name].summary}" for name in names]
        lines.append("")
    lines.append("exit codes:")
    lines += [f"  {code:<12} {meaning}" for code, meaning in MEANINGS.items()]
    return "\n".join([*lines, "", _TAIL])


def _unknown(word: str) -> str:
    from difflib import get_close_matches

    if " " in word:
        return f'To give it a task, write: brain run "{word}"'
    near = get_close_matches(word, COMMANDS, 1)
    hint = f"Did you mean `brain {near[0]}`?" if near else "`brain --help` lists the commands."
    return f"There is no command {word!r}. {hint}"


if __name__ == "__main__":
    sys.exit(main())
