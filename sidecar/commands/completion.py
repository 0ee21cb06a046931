"""`brain completion`: commands, options and task ids, completed by the shell."""

import argparse
import os
from collections.abc import Iterable
from contextlib import suppress

from sidecar.commands import COMMANDS
from sidecar.commands.errors import CommandFailed
from sidecar.commands.exits import EXIT_USAGE
from sidecar.commands.parsers import parser
from sidecar.commands.sidecars import looking
from sidecar.commands.text import clip, safe_line
from sidecar.config.paths import default_data_dir

ABOUT = "Print the completion script of your shell. It completes commands, options, tools and the ids of tasks."
EXAMPLES = """\
examples:
  eval "$(brain completion bash)"                              in ~/.bashrc
  eval "$(brain completion zsh)"                               in ~/.zshrc, after compinit
  brain completion fish > ~/.config/fish/completions/brain.fish
"""
SHELLS = {
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
_TAKES_TASK = frozenset({"show", "message", "approve", "cancel", "resume"})
RECENT = 30


def define(own: argparse.ArgumentParser) -> None:
    own.add_argument("shell", choices=tuple(SHELLS), nargs="?", help="whose script")
    own.add_argument("--words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    own.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    if args.words is not None:
        # One a line, what it is behind a tab. Pressing a key twice must never show an error.
        with suppress(CommandFailed):
            print("\n".join(candidates(args.words)))
        return 0
    shell = args.shell
    if shell is None:
        raise CommandFailed(f"Which shell? brain completion {'|'.join(SHELLS)}", EXIT_USAGE)
    print(SHELLS[shell])
    return 0


def candidates(words: list[str]) -> list[str]:
    """What the last word, which may be empty, can become."""
    *before, last = words or [""]
    if not before:
        return _matching(last, (f"{name}\t{command.summary}" for name, command in COMMANDS.items()))
    command = before[0]
    if command not in COMMANDS:
        return []
    actions = parser(command)._actions
    for action in actions:
        if action.choices and before[-1] in action.option_strings:
            return _matching(last, map(str, action.choices))
    if last.startswith("-"):
        shown = (action for action in actions if action.help != argparse.SUPPRESS)
        return _matching(last, (f"{name}\t{action.help}" for action in shown for name in action.option_strings))
    given = [word for word in before[1:] if not word.startswith("-")]
    if command in _TAKES_TASK and not given:
        return _matching(last, _tasks())
    if command == "tool" and not given:
        return _matching(last, _tools())
    return [*SHELLS] if command == "completion" and not given else []


def _matching(beginning: str, candidates: Iterable[str]) -> list[str]:
    return [line for line in candidates if line.startswith(beginning)]


def _tasks() -> list[str]:
    with looking(default_data_dir(os.environ)) as client:
        tasks = client.get("/api/brain/tasks", {"limit": RECENT})["tasks"]
    return [f"{task['id'][:10]}\t{task['status']}: {clip(safe_line(task['task']), 40)}" for task in tasks]


def _tools() -> list[str]:
    with looking(default_data_dir(os.environ)) as client:
        tools = client.get("/api/brain/tools")["tools"]
    return [f"{tool['name']}\t{clip(safe_line(tool['description']), 60)}" for tool in tools]
