"""What a command line may do, read without running it: the programs in it, and where its words lead."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from tools.environments import ProjectEnvironment, without_own_environment
from tools.policy import shell
from tools.policy.programs import Program, Table, find_risk
from tools.protected import protected_part, secret_part

#: Programs that run the command after them.
_WRAPPER_NAMES = """
env nohup time nice ionice exec command builtin xargs setsid stdbuf eval sh bash zsh dash ksh timeout chroot unshare
watch busybox then else do if while until ! { parallel flock
"""
_WRAPPERS = frozenset(_WRAPPER_NAMES.split())
_SEPARATORS = re.compile(r"[;|&\n\r(){}`]|\$\(")
_ASSIGNMENT = re.compile(r"\w+=")
_QUOTING = re.compile(r"[\\'\"]")
_WORDS = re.compile(r"[^\s;|&()<>`'\"$={},]+")
_BINARIES = (".venv/bin/", "venv/bin/", "node_modules/.bin/")
#: Programs that run what a project contains: its scripts, builds and tests.
_PROJECT_NAMES = """
sh bash zsh dash ksh fish source . eval exec xargs python python2 python3 node deno bun tsx ts-node ruby perl php lua
julia Rscript java make gmake cmake ninja meson just task rake gradle mvn ant sbt bazel npm npx pnpm yarn cargo go
dotnet swift mix tox nox hatch poetry pdm uv pipenv bundle composer pre-commit docker podman gulp grunt vite webpack
rollup esbuild jest vitest mocha pytest unittest
"""
_PROJECT = frozenset(_PROJECT_NAMES.split())
_NO_ENVIRONMENT = ProjectEnvironment()
_VERSIONED = re.compile(r"(?:python|pypy|ruby|node|php|lua|perl)[\d.]+\Z")


class FindsPrograms(Protocol):
    def finds(self, name: str) -> bool: ...


class Judgement(NamedTuple):
    """What the table says about a command: `why` it isn't harmless; empty if it is."""

    name: str
    why: str
    network: bool = False
    project: bool = False


def judge(command: str | Sequence[str], workspace: str, table: Table, environment: FindsPrograms) -> Judgement:
    argv = shell.simple(command) if isinstance(command, str) else list(command)
    if isinstance(argv, str):
        return Judgement("", f"a command can do anything that you can, and {argv}")
    name = next((argv[0][len(each) :] for each in _BINARIES if argv[0].removeprefix("./").startswith(each)), None)
    own = name is not None and "/" not in name and ".." not in argv[0]
    found = table.find([name, *argv[1:]] if own and name else argv)
    if found is None or (own and not found.program.project):
        return Judgement("", f"a command can do anything that you can, and {argv[0][:100]} is not a known program")
    program = found.program
    if program.verdict != "allow":
        why = program.why or f"{program.name} reaches the network" if program.network else program.why
        return Judgement(program.name, why or f"{program.name} needs approval", program.network)
    if reason := find_risk(found):
        return Judgement(program.name, reason, program.network)
    if program.operands != "text" and (reason := _find_escape(argv[1:], workspace)):
        return Judgement(program.name, reason, program.network)
    if not own and not program.project and (reason := find_impostor(argv[0], workspace, environment)):
        return Judgement(program.name, reason, program.network)
    return Judgement(program.name, "", program.network, program.project)


def simple_words(command: str | Sequence[str]) -> list[str] | None:
    words = shell.simple(command) if isinstance(command, str) else list(command)
    return words if isinstance(words, list) else None


def runs_project(command: str | Sequence[str], table: Table, environment: FindsPrograms = _NO_ENVIRONMENT) -> bool:
    """Whether any part of the command may run what the project contains."""
    text = command if isinstance(command, str) else " ".join(command)
    for line in {text, _QUOTING.sub("", text)}:
        for part in _SEPARATORS.split(line):
            words = [word for word in part.split() if not _ASSIGNMENT.match(word)]
            if words and "/" in words[0]:
                return True
        for words in _commands_in(line):
            found = table.find(words)
            if words[0] in _PROJECT or _VERSIONED.match(words[0]) or (found is not None and found.program.project):
                return True
            if environment.finds(words[0]):
                return True
    return False


def _find_escape(words: Sequence[str], workspace: str) -> str | None:
    """Why a word, or the value of an option, may lead outside the workspace or to a secret; `None` if none does."""
    for word in words:
        short = word[2:] if word[:1] == "-" and word[:2] != "--" else ""
        # After a colon comes a path in a commit, or one after a line range.
        for part in {word, word.partition("=")[2], short, word.rpartition(":")[2] if ":" in word else ""}:
            if not part or part.startswith("-"):
                continue
            if part.startswith("/") and not f"{part}/".startswith(f"{workspace.rstrip('/')}/"):
                return f"{part[:200]} is outside the workspace"
            if ".." in part.split("/"):
                return f"{part[:200]} may lead outside the workspace"
            if part.startswith("~"):
                return f"{part[:200]} is outside the workspace"
            if name := secret_part(part):
                return f"{name} may hold secrets"
            if (real := _resolve_link(part.removeprefix(workspace), workspace)) is not None:
                if not f"{real}/".startswith(f"{os.path.realpath(workspace)}/"):
                    return f"{part[:200]} is a link that leads outside the workspace"
                if name := secret_part(real[len(workspace) :]):
                    return f"{part[:200]} leads to {name}, which may hold secrets"
    return None


def _resolve_link(path: str, workspace: str) -> str | None:
    """The real path, if there is a link on the way."""
    place = workspace
    for part in path.split("/"):
        if part:
            place = f"{place}/{part}"
            try:
                if stat.S_ISLNK(os.lstat(place).st_mode):
                    return os.path.realpath(place)
            except (OSError, ValueError):
                return None
    return None


def _search_path() -> str:
    """Where commands look for programs that aren't the project's."""
    return without_own_environment({"PATH": os.environ.get("PATH", os.defpath)})["PATH"]


def find_impostor(name: str, workspace: str, environment: FindsPrograms) -> str | None:
    """Why a program isn't the one in the table: the workspace may bring its own of the same name."""
    if "/" in name:
        return f"{name[:200]} is a path, not a program name"
    if environment.finds(name):
        return f"{name} comes from the project's own environment"
    for folder in _search_path().split(os.pathsep):
        place = f"{folder}/{name}"
        if os.access(place, os.X_OK):
            if not folder.startswith("/") or f"{place}/".startswith(f"{workspace.rstrip('/')}/"):
                return f"{name} comes from the workspace"
            return None
    return None


def find_protected(line: str) -> str | None:
    """A word of the line, however it is quoted, that names a protected file or one that may hold secrets."""
    for text in {line, _QUOTING.sub("", line)}:
        for word in _WORDS.findall(text):
            if name := protected_part(word) or secret_part(word):
                return name
    return None


def find_network(line: str, table: Table) -> str | None:
    """A program anywhere in the line that reaches the network."""
    for words in _commands_in(line):
        found = table.find(words)
        if found is not None and found.program.network:
            return found.program.name
    return None


def find_denied(command: str | Sequence[str], table: Table) -> Program | None:
    """A denied program in any part of the command line, however it is quoted."""
    text = command if isinstance(command, str) else " ".join(command)
    for line in {text, _QUOTING.sub("", text)}:
        for words in _commands_in(line):
            found = table.find(words)
            if found is not None and found.program.verdict == "deny":
                return found.program
    return None


def _commands_in(line: str) -> Iterator[list[str]]:
    """Every position in a line where a program may start, with the words after it."""
    for part in _SEPARATORS.split(line):
        words = [word.strip("\"'\\") for word in part.split()]
        for place, word in enumerate(words):
            program = word.rpartition("/")[2]
            if not program or word.startswith("-") or _ASSIGNMENT.match(word):
                continue
            yield [program, *words[place + 1 :]]
            if program not in _WRAPPERS and not program.isdigit():
                break
