"""May a call run? By the tool, its arguments, the workspace, and how much the person wants to be asked. Deny wins."""

# Called with every command: building a Path would cost more than the call itself.
# ruff: noqa: PTH116

import os
import re
import shlex
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from sidecar.wire.tasks import Approvals
from tools.policy import programs, shell
from tools.policy.words import asked_for_tests, names_command
from tools.protected import protected_part, secret_part
from tools.spec import Arguments, ToolSpec

#: Programs that run what stands after them.
_WRAPPER_NAMES = """
env nohup time nice ionice exec command builtin xargs setsid stdbuf eval sh bash zsh dash ksh timeout chroot unshare
watch busybox then else do if while until ! { parallel flock
"""
_WRAPPERS = frozenset(_WRAPPER_NAMES.split())
_SEPARATORS = re.compile(r"[;|&\n\r(){}`]|\$\(")
_ASSIGNMENT = re.compile(r"\w+=")
_QUOTING = re.compile(r"[\\'\"]")
_WORDS = re.compile(r"[^\s;|&()<>`'\"$={},]+")
_GIT_WRITES = frozenset({"git_add", "git_commit"})
_BINARIES = (".venv/bin/", "venv/bin/", "node_modules/.bin/")


class Decision(NamedTuple):
    """`network`: whether the person's word, and nothing less, lets the command reach the network."""

    verdict: Literal["allow", "ask", "deny"]
    why: str
    network: bool = False


class Policy:
    """`trusted` tells whether the person trusts a workspace, `contained` whether commands run inside a sandbox."""

    def __init__(
        self,
        trusted: Callable[[str], bool] = lambda workspace: False,
        contained: Callable[[], bool] = lambda: True,
        own_table: Path | None = None,
        granted: Callable[[str, str], bool] = lambda workspace, binding: False,
    ) -> None:
        #: Whether the person has said yes to exactly this, for the whole workspace.
        self.granted = granted
        self._trusted = trusted
        self._contained = contained
        self._own_table = own_table
        self._table: programs.Table | None = None
        self._stamp: object = ()

    def decide(
        self, spec: ToolSpec, args: Arguments, workspace: str, approvals: Approvals, task_text: str = ""
    ) -> Decision:
        if spec.effects == "none" and not spec.runs_project:
            return Decision("allow", "it only reads")
        if spec.effects == "none":
            return self._checkers(spec, workspace, approvals)
        if approvals == "readonly":
            return Decision("deny", f"the task is read-only, and {spec.name} may change something")
        if spec.effects == "files":
            return _files(args)
        command = getattr(args, "command", None)
        if command is not None:
            return self._command(command, workspace, approvals, task_text)
        if spec.runs_project:
            return self._tests(workspace, approvals, task_text)
        if approvals == "auto":
            return Decision("allow", "the person lets changes be made without being asked")
        if spec.name in _GIT_WRITES:
            return Decision("ask", "it changes the repository")
        return Decision("ask", "a command may do anything that you may")

    def _checkers(self, spec: ToolSpec, workspace: str, approvals: Approvals) -> Decision:
        """Reads, but by programs that the project itself may have brought."""
        if self._trusted(workspace):
            return self._contained_or_asked("it only reads, with the checkers of a project that you trust")
        if approvals == "auto":
            return self._contained_or_asked("the person lets commands run without being asked")
        if approvals == "readonly":
            return Decision("deny", f"{spec.name} runs the project's own checkers, and you do not trust this workspace")
        return Decision("ask", "it runs the project's own checkers, and you do not trust this workspace")

    def _tests(self, workspace: str, approvals: Approvals, task_text: str) -> Decision:
        if asked_for_tests(task_text):
            return Decision("allow", "the person's own task asks for the tests")
        if approvals == "auto":
            return self._contained_or_asked("the person lets commands run without being asked")
        if not self._trusted(workspace):
            return Decision("ask", "it runs the project's own code, and you do not trust this workspace")
        return self._contained_or_asked("it runs the tests of a project that you trust")

    def _command(self, command: str | Sequence[str], workspace: str, approvals: Approvals, task_text: str) -> Decision:
        line = command if isinstance(command, str) else shlex.join(command)
        try:
            table = self._loaded()
        except programs.BadTable as error:
            return Decision("ask", str(error))
        if program := _denied(command, table):
            return Decision(
                "deny", program.why or f"{program.name} would act with more rights than this workspace gives"
            )
        known = self._judged(command, workspace, table)
        network = known.network or _network(line, table)
        if names_command(line, task_text):
            return Decision("allow", "the person's own task names this command, word for word", network=True)
        if approvals == "auto":
            if network:
                return Decision("ask", known.why if known.network else f"{network} reaches the network", network=True)
            if known.why and (name := _names_protected(line)):
                return Decision("ask", f"it names {name}, which decides what runs later, or holds secrets")
            return self._contained_or_asked("the person lets commands run without being asked")
        if known.why:
            return Decision("ask", known.why, network=bool(network))
        if not self._trusted(workspace):
            return Decision("ask", f"you do not trust this workspace; `brain trust` would let {line.split()[0]} run")
        return self._contained_or_asked(f"{known.name} with these options only looks, or runs the project's own checks")

    def _contained_or_asked(self, why: str) -> Decision:
        """Nothing but the person's own word runs a command where nothing holds it."""
        if self._contained():
            return Decision("allow", why)
        return Decision("ask", "no sandbox would hold it: this machine has none that works, or it is switched off")

    def _judged(self, command: str | Sequence[str], workspace: str, table: programs.Table) -> "_Judged":
        argv = shell.simple(command) if isinstance(command, str) else list(command)
        if isinstance(argv, str):
            return _Judged("", f"a command may do anything that you may, and {argv}")
        name = next((argv[0][len(each) :] for each in _BINARIES if argv[0].removeprefix("./").startswith(each)), None)
        own = name is not None and "/" not in name and ".." not in argv[0]
        found = table.find([name, *argv[1:]] if own and name else argv)
        if found is None or (own and not found.program.project):
            return _Judged("", f"a command may do anything that you may, and nothing is known of {argv[0][:100]}")
        program = found.program
        if program.verdict != "allow":
            why = program.why or f"{program.name} reaches the network" if program.network else program.why
            return _Judged(program.name, why or f"{program.name} is asked about", program.network)
        if reason := programs.harmless(found):
            return _Judged(program.name, reason, program.network)
        if program.operands != "text" and (reason := _leaves(argv[1:], workspace)):
            return _Judged(program.name, reason, program.network)
        if not own and not program.project and (reason := _planted(argv[0], workspace)):
            return _Judged(program.name, reason, program.network)
        return _Judged(program.name, "", program.network)

    def _loaded(self) -> programs.Table:
        """The person may change their table while we run; a workspace has none."""
        stamp: object = None
        if self._own_table is not None:
            try:
                found = os.stat(self._own_table)
                stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
            except OSError:
                stamp = None
        if self._table is None or stamp != self._stamp:
            self._table, self._stamp = programs.load(self._own_table), stamp
        return self._table


class _Judged(NamedTuple):
    """What the table says of a command: `why` it is not harmless, or nothing."""

    name: str
    why: str
    network: bool = False


def _files(args: Arguments) -> Decision:
    for path in args.paths():
        if name := protected_part(path):
            return Decision("ask", f"{name} decides what runs later, or holds secrets")
    return Decision("allow", "it edits files of the workspace, which can be undone")


def _leaves(words: Sequence[str], workspace: str) -> str | None:
    """Whether a word may name something outside of the workspace, or a secret: itself, or an option's value."""
    for word in words:
        short = word[2:] if word[:1] == "-" and word[:2] != "--" else ""
        # What follows a colon is a path in a commit, or after the lines that are wanted of it.
        for part in {word, word.partition("=")[2], short, word.rpartition(":")[2] if ":" in word else ""}:
            if not part or part.startswith("-"):
                continue
            if part.startswith("/") and not f"{part}/".startswith(f"{workspace.rstrip('/')}/"):
                return f"{part[:200]} is outside of the workspace"
            if ".." in part.split("/"):
                return f"{part[:200]} may lead out of the workspace"
            if part.startswith("~"):
                return f"{part[:200]} is outside of the workspace"
            if name := secret_part(part):
                return f"{name} may hold secrets"
            if (real := _behind_link(part.removeprefix(workspace), workspace)) is not None:
                if not f"{real}/".startswith(f"{os.path.realpath(workspace)}/"):
                    return f"{part[:200]} is a link that leads out of the workspace"
                if name := secret_part(real[len(workspace) :]):
                    return f"{part[:200]} leads to {name}, which may hold secrets"
    return None


def _behind_link(path: str, workspace: str) -> str | None:
    """Where a path really is, if there is a link on the way."""
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


def _planted(name: str, workspace: str) -> str | None:
    """A program that the workspace brings itself is not the one that the table speaks of."""
    if "/" in name:
        return f"{name[:200]} is not a program by its plain name"
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        place = f"{folder}/{name}"
        if os.access(place, os.X_OK):
            if not folder.startswith("/") or f"{place}/".startswith(f"{workspace.rstrip('/')}/"):
                return f"{name} comes from the workspace itself"
            return None
    return None


def _names_protected(line: str) -> str | None:
    return next((name for word in _WORDS.findall(line) if (name := protected_part(word))), None)


def _network(line: str, table: programs.Table) -> str | None:
    """A program that reaches the network, wherever it stands in the line."""
    for words in _programs(line):
        found = table.find(words)
        if found is not None and found.program.network:
            return found.program.name
    return None


def _denied(command: str | Sequence[str], table: programs.Table) -> programs.Program | None:
    """Looks at every part of a command line, however many there are and however it is quoted."""
    text = command if isinstance(command, str) else " ".join(command)
    for line in {text, _QUOTING.sub("", text)}:
        for words in _programs(line):
            found = table.find(words)
            if found is not None and found.program.verdict == "deny":
                return found.program
    return None


def _programs(line: str) -> Iterator[list[str]]:
    """Every place in a line where a program may be named, with the words after it."""
    for part in _SEPARATORS.split(line):
        words = [word.strip("\"'\\") for word in part.split()]
        for place, word in enumerate(words):
            program = word.rpartition("/")[2]
            if not program or word.startswith("-") or _ASSIGNMENT.match(word):
                continue
            yield [program, *words[place + 1 :]]
            if program not in _WRAPPERS and not program.isdigit():
                break
