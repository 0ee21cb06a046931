"""May a call run? A pure function of the tool, its arguments, and how much the person wants to be asked."""

import re
import shlex
from typing import Literal, NamedTuple

from sidecar.wire.tasks import Approvals
from tools.protected import protected
from tools.spec import Arguments, ToolSpec

#: Programs that act with more rights than the person gave us. No approval mode covers them.
_PRIVILEGED = frozenset({"sudo", "su", "doas", "pkexec", "runas", "shutdown", "reboot", "halt", "poweroff"})
#: Programs that run what stands after them.
_WRAPPER_NAMES = "env nohup time nice exec command builtin xargs setsid stdbuf eval sh bash zsh dash"
_WRAPPERS = frozenset(_WRAPPER_NAMES.split())
_SEPARATORS = re.compile(r"[;|&\n\r(){}`]|\$\(")
_ASSIGNMENT = re.compile(r"\w+=")
#: A command ends where no further option or word of it follows.
_END = r"(?![\w/-]| +-)"
_DOUBTS = re.compile(
    r"\b(?:not|never|avoid|without|don't|doesn't|instead of|what (?:does|is|do)|why|explain)\b", re.IGNORECASE
)
_GIT_WRITES = frozenset({"git_add", "git_commit"})


class Decision(NamedTuple):
    verdict: Literal["allow", "ask", "deny"]
    why: str


class Policy:
    def decide(
        self, spec: ToolSpec, args: Arguments, workspace: str, approvals: Approvals, task_text: str = ""
    ) -> Decision:
        if spec.effects == "none":
            return Decision("allow", "it only reads")
        if approvals == "readonly":
            return Decision("deny", f"the task is read-only, and {spec.name} may change something")
        if spec.effects == "files":
            return _files(args)
        return _command(spec, args, approvals, task_text)


def _files(args: Arguments) -> Decision:
    for path in args.paths():
        if name := protected(path):
            return Decision("ask", f"{name} decides what runs later, or holds secrets")
    return Decision("allow", "it edits files of the workspace, which can be undone")


def _command(spec: ToolSpec, args: Arguments, approvals: Approvals, task_text: str) -> Decision:
    command = getattr(args, "command", None)
    if command is not None and (program := _privileged(command)):
        return Decision("deny", f"{program} would act with more rights than this workspace gives")
    if spec.name == "run_tests":
        return Decision("allow", "it runs the project's own tests")
    if approvals == "auto":
        return Decision("allow", "the person lets commands run without being asked")
    if command is not None and _said(command if isinstance(command, str) else shlex.join(command), task_text):
        return Decision("allow", "the person's own task names this command, word for word")
    if spec.name in _GIT_WRITES:
        return Decision("ask", "it changes the repository")
    return Decision("ask", "a command may do anything that you may")


def _said(command: str, task_text: str) -> bool:
    """The person told us to run exactly this, and not what it does, or not to.

    One word may be prose, so it must be quoted, or follow the word that asks for it.
    """
    words = re.escape(command.strip())
    if not words:
        return False
    alone = re.search(r"\s", command.strip()) is None
    quoted = rf"`{words}`|\"{words}\"|'{words}'|\b(?:run|execute)[: ]+{words}{_END}"
    pattern = quoted if alone else rf"{quoted}|(?<![\w./-]){words}{_END}"
    for match in re.finditer(pattern, task_text, re.IGNORECASE):
        if not _DOUBTS.search(task_text[max(match.start() - 30, 0) : match.end()].replace(command, "")):
            return True
    return False


def _privileged(command: str | list[str]) -> str | None:
    """Looks at every part of a command line, however many there are."""
    text = command if isinstance(command, str) else " ".join(command)
    for part in _SEPARATORS.split(text):
        for word in part.split():
            program = word.strip("\"'\\").rpartition("/")[2]
            if program in _PRIVILEGED:
                return program
            if program not in _WRAPPERS and not _ASSIGNMENT.match(program) and not word.startswith("-"):
                break
    return None
