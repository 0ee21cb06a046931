"""The one place that prepares a Git process of ours: which repository, with what configuration, and how confined."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tools.errors import CommandMissing, ToolError
from tools.local.confinement import Confinement
from tools.local.repository.configuration import GitSetting
from tools.local.repository.location import NoRepository
from tools.local.repository.view import RepositoryView, RepositoryViews
from tools.local.sandbox.spawn import popen
from tools.local.special_files import SpecialFiles

_OBJECT_SECONDS = 20.0
#: Again on the command line, which overrides every file of configuration.
_SETTINGS = """
safe.bareRepository=explicit protocol.allow=never core.fsmonitor=false core.hooksPath=/dev/null log.showSignature=false
core.quotePath=false
"""
_OPTIONS = (
    "--no-pager",
    "--literal-pathspecs",
    *(option for each in _SETTINGS.split() for option in ("-c", each)),
)
#: For every Git process of ours.
ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "GIT_SSH_COMMAND": "false",
    "GIT_EDITOR": ":",
    "GIT_SEQUENCE_EDITOR": ":",
    "GIT_PAGER": "cat",
    "GIT_MERGE_AUTOEDIT": "no",
    "LC_ALL": "C.UTF-8",
}
#: Options of commands that could start something, or enter a submodule with a configuration of its own.
_DIFFING = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
_HARDENED = {
    "diff": _DIFFING,
    "show": (*_DIFFING, "--no-show-signature"),
    "log": (*_DIFFING, "--no-show-signature"),
    "blame": ("--no-textconv",),
    "status": ("--ignore-submodules=dirty",),
    "commit": ("--no-gpg-sign",),
}
_WRITING = frozenset({"update-index", "commit", "reset"})


class GitCommand(NamedTuple):
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    confinement: Confinement | None
    #: What the repository would have started, and what was left out for that reason.
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Git:
    """Git for one workspace. A process that writes is confined like a command; any other only reads."""

    workspace: str
    views: RepositoryViews
    special: SpecialFiles

    def command(
        self, words: Sequence[str], confinement: Confinement | None, environment: Mapping[str, str], *, trusted: bool
    ) -> GitCommand:
        """Raises `ToolError` if there is no repository, or no Git outside of the workspace. Call it in a thread."""
        view = self.views.open(self.workspace, environment)
        if special := self.special.find(view.place.top, view.place[1:]):
            raise NoRepository(f"{special}, so the repository is not read.", advice="Tell the user; it must go.")
        # Hooks and filters of the repository run in a sandbox, or not at all.
        refusal = _refusal(confinement, trusted=trusted)
        writes, notes = words[0] in _WRITING, _notes(view, words[0], refusal)
        options = list(_OPTIONS)
        if writes:
            _check_filters(view, refusal)
            os.makedirs(f"{view.place.common}/logs", exist_ok=True)  # noqa: PTH103
            filters = (*view.own_filters, *(() if refusal else view.its_filters))
            options += [option for each in filters for option in ("-c", f"{each}={each.value}")]
        if words[0] == "commit" and not refusal:
            options += ["-c", f"core.hooksPath={view.hooks}"]
        program = find_git(self.workspace, environment)
        argv = (program, *options, words[0], *_HARDENED.get(words[0], ()), *words[1:])
        readable = (*view.readable, _prefix(program), *((view.hooks,) if writes and not refusal else ()))
        if confinement is not None:
            writable = view.writable if writes else ()
            confinement = replace(
                confinement, readable=(*confinement.readable, *readable), writable=(*confinement.writable, *writable)
            )
        return GitCommand(argv, {**git_environment(view), **({} if writes else _LOOKING)}, confinement, notes)

    def read_objects(self, names: Sequence[bytes], confinement: Confinement | None) -> dict[bytes, bytes]:
        """The contents that exist; none if Git is missing or doesn't answer."""
        if not names:
            return {}
        outer = _outer()
        try:
            command = self.command(["cat-file", "--batch"], confinement, outer, trusted=False)
            wanted = b"".join(name.hex().encode() + b"\n" for name in names)
            return _parse_objects(_run(command, outer, "/", wanted, _OBJECT_SECONDS)[1], names)
        except (ToolError, OSError, subprocess.SubprocessError):
            return {}

    def output(self, words: Sequence[str], confinement: Confinement | None, *, trusted: bool, seconds: float) -> bytes:
        """What a Git command prints. Blocks; raises `ToolError` if it fails."""
        command = self.command(words, confinement, outer := _outer(), trusted=trusted)
        try:
            code, output, errors = _run(command, outer, self.workspace, b"", seconds)
        except (OSError, subprocess.SubprocessError) as error:
            raise ToolError(f"git {words[0]} did not run: {error}", code="git_failed") from error
        if code != 0:
            text = errors.decode("utf-8", "replace").strip()
            raise ToolError(f"git {words[0]} failed: {text[-2_000:]}", code="git_failed")
        return output


_LOOKING = {"GIT_OPTIONAL_LOCKS": "0"}


def git_environment(view: RepositoryView) -> dict[str, str]:
    return {
        **ENVIRONMENT,
        "GIT_DIR": view.place.directory,
        "GIT_COMMON_DIR": view.common,
        "GIT_WORK_TREE": view.place.top,
        "GIT_CEILING_DIRECTORIES": view.place.top,
        "HOME": view.common,
        "XDG_CONFIG_HOME": view.common,
    }


def find_git(workspace: str, environment: Mapping[str, str]) -> str:
    """Git by its full path; a workspace can't bring its own."""
    inside = f"{os.path.realpath(workspace)}/"
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        place = f"{folder}/git"
        if folder.startswith("/") and os.access(place, os.X_OK) and not os.path.realpath(place).startswith(inside):
            return place
    raise CommandMissing("Git is not installed.", advice="Go on without it, or tell the user.")


def _prefix(program: str) -> str:
    """Where this Git is installed, with the programs that it consists of."""
    folder = os.path.dirname(os.path.realpath(program))  # noqa: PTH120
    return os.path.dirname(folder) if folder.endswith("/bin") else folder  # noqa: PTH120


def git_version() -> str:
    """Of the Git that we use; raises `OSError` or `SubprocessError` if it doesn't run."""
    environment = {"PATH": os.environ.get("PATH", os.defpath), **ENVIRONMENT}
    line = [find_git("/nowhere", environment), "--version"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=5, check=True, env=environment, cwd="/")
    return done.stdout.strip().removeprefix("git version ")


def _outer() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "XDG_CONFIG_HOME")}


def _run(
    command: GitCommand, outer: Mapping[str, str], cwd: str, stdin: bytes, seconds: float
) -> tuple[int, bytes, bytes]:
    from tools.local.sandbox.access import CommandLaunch

    environment = {**outer, **command.environment}
    launch = CommandLaunch(command.argv, environment)
    if command.confinement is not None:
        launch = command.confinement.wrap(command.argv, cwd, environment, None)
    started = popen(
        launch,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        cwd=cwd,
    )
    try:
        output, errors = started.communicate(stdin, timeout=seconds)
        return started.returncode, output, errors
    finally:
        if started.poll() is None:
            started.kill()
            started.wait()


def _refusal(confinement: Confinement | None, *, trusted: bool) -> str:
    """Why nothing of the repository may run; empty if it may."""
    if not trusted:
        return "the workspace is not trusted"
    return "" if confinement is not None and confinement.sandbox is not None else "there is no sandbox to run them in"


def _notes(view: RepositoryView, word: str, refusal: str) -> tuple[str, ...]:
    notes = []
    if view.programs and refusal:
        notes.append(
            f"This repository's configuration would run programs or lead elsewhere ({', '.join(view.programs)}). "
            "It was read without these settings."
        )
    if word == "commit":
        if refusal and _has_hooks(view.hooks):
            notes.append(f"The repository's hooks were not run: {refusal}.")
        if view.signs:
            notes.append("The commit is not signed: your signing keys are out of reach here.")
    return tuple(notes)


def _has_hooks(place: str) -> bool:
    try:
        return any(not name.endswith(".sample") for name in os.listdir(place))  # noqa: PTH208
    except OSError:
        return False


def _check_filters(view: RepositoryView, refusal: str) -> None:
    """Without its filters, staging a file would store something else than the repository wants."""
    if refusal and (names := _filter_names(view.its_filters) - _filter_names(view.own_filters)):
        raise ToolError(
            "The repository converts files with programs of its own configuration (filter "
            f"{', '.join(sorted(names))}), and {refusal}, so nothing was done.",
            advice="Tell the user: in a trusted workspace, the filters run in the sandbox.",
            code="needs_trust",
        )


def _filter_names(settings: Sequence[GitSetting]) -> set[str]:
    return {each.part or "" for each in settings if each.name in ("filter.clean", "filter.process")}


def _parse_objects(output: bytes, names: Sequence[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    place = 0
    for name in names:
        end = output.find(b"\n", place)
        if end < 0:
            break
        words = output[place:end].split(b" ")
        place = end + 1
        if len(words) != 3:
            continue
        size = int(words[2])
        content = output[place : place + size]
        place += size + 1
        if words[1] == b"blob" and len(content) == size:
            found[name] = content
    return found
