"""`brain completion`: shell completion of commands, options, tools and task ids."""

import argparse
import os
from collections.abc import Iterable
from contextlib import suppress

from sidecar.client.errors import ClientError
from sidecar.client.sidecars import reading
from sidecar.commands.errors import EXIT_USAGE, CommandFailed
from sidecar.commands.table import COMMANDS
from sidecar.commands.text import clip, safe_line
from sidecar.config.paths import default_data_dir

SCRIPTS = {
    "bash": """\
_brain() {
    local IFS=$'\\n'
    COMPREPLY=($(brain completion --words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _brain brain""",
    "zsh": """\
_brain() {
    local -a found
    found=("${(@f)$(brain completion --words "${(@)words[2,CURRENT]}" 2>/dev/null | sed 's/:/\\\\:/g' | tr '\\t' ':')}")
    [[ -n "$found" ]] && _describe brain found || _files
}
compdef _brain brain""",
    "fish": """\
complete -c brain -f -a '(brain completion --words (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'""",
}
RECENT = 30


def completion(args: argparse.Namespace) -> int:
    if args.words is not None:
        # One candidate per line, its description after a tab. Pressing Tab must never show an error.
        with suppress(ClientError):
            print("\n".join(candidates(args.words)))
        return 0
    if args.shell is None:
        raise CommandFailed(f"Name your shell: brain completion {'|'.join(SCRIPTS)}", EXIT_USAGE)
    print(SCRIPTS[args.shell])
    return 0


def candidates(words: list[str]) -> list[str]:
    """What the last word, which may be empty, can become."""
    *before, last = words or [""]
    if not before:
        return _matching(last, (f"{name}\t{command.summary}" for name, command in COMMANDS.items()))
    command = COMMANDS.get(before[0])
    if command is None:
        return []
    for argument in command.arguments:
        if argument.choices is not None and before[-1] in argument.names:
            return _matching(last, argument.choices())
    if last.startswith("-"):
        shown = (argument for argument in command.arguments if argument.settings["help"] != argparse.SUPPRESS)
        return _matching(
            last, (f"{name}\t{argument.settings['help']}" for argument in shown for name in argument.names)
        )
    given = [word for word in before[1:] if not word.startswith("-")]
    if given or not command.arguments:
        return [action.name for action in command.actions if action.name.startswith(last)]
    first = command.arguments[0]
    if first.names == ("id",):
        return _matching(last, _tasks())
    if command.name == "tool":
        return _matching(last, _tools())
    return _matching(last, first.choices()) if first.choices and not first.names[0].startswith("-") else []


def _matching(beginning: str, candidates: Iterable[str]) -> list[str]:
    return [line for line in candidates if line.startswith(beginning)]


def _tasks() -> list[str]:
    with reading(default_data_dir(os.environ)) as client:
        tasks = client.get("/api/brain/tasks", {"limit": RECENT})["tasks"]
    return [f"{task['id'][:10]}\t{task['status']}: {clip(safe_line(task['task']), 40)}" for task in tasks]


def _tools() -> list[str]:
    with reading(default_data_dir(os.environ)) as client:
        tools = client.get("/api/brain/tools")["tools"]
    return [f"{tool['name']}\t{clip(safe_line(tool['description']), 60)}" for tool in tools]
