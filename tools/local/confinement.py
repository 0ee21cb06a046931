"""What holds one command: the sandbox, if this machine has one, and resource limits.

A shell sets the limits and then becomes the command, so they hold from its first instruction. Address space has no
limit by default: a race detector or a WebAssembly engine reserves terabytes that it never uses. Instead the kernel
chooses a command first when memory runs out.
"""

import math
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tools.errors import ToolError
from tools.local.repository.configuration import GitIdentity
from tools.local.repository.location import find_repository
from tools.local.sandbox.access import CommandAccess, CommandLaunch, SandboxTier
from tools.local.sandbox.gateway import Gateway

_MAX_OPEN_FILES = 65_536
_BLOCK = 512
#: Processor time beyond the time limit, in case no process is left to end the command.
_EXTRA_SECONDS = 60
_OOM_SCORE = "500"
_SHELL = ("/bin/sh", "-c")
_GATE = "read -r _ || exit 125; exec </dev/null; "
#: Closed instead of sent to /dev/null: opening that would be reported as a write, once for each limit.
_QUIET = "2>&-"
_LIMITS = re.compile(rf"\{{ ulimit -c 0; [^}}]*\}} {_QUIET}; (?:{re.escape(_GATE)})?")

#: Read once for all commands of this process, and again when your configuration changes.
_IDENTITY = GitIdentity()


@dataclass(frozen=True, slots=True)
class CommandLimits:
    """Zero is unlimited."""

    file_bytes: int = 1_000_000_000
    processes: int = 4_096
    memory_bytes: int = 0

    def wrap(self, argv: Sequence[str], seconds: float | None, *, gated: bool = False) -> list[str]:
        """`seconds` is the time limit, if there is one; it also bounds processor time.

        With `gated`, nothing runs before a line on its input, which is empty afterwards.
        """
        if sys.platform == "win32":
            return list(argv)
        lines = ["ulimit -c 0", f"ulimit -n {_max_open_files()}"]
        if self.file_bytes:
            lines.append(f"ulimit -f {self.file_bytes // _BLOCK}")
        if self.memory_bytes:
            lines.append(f"ulimit -v {self.memory_bytes // 1024}")
        if seconds is not None:
            lines.append(f"ulimit -t {math.ceil(seconds) * (os.cpu_count() or 1) + _EXTRA_SECONDS}")
        if self.processes and os.geteuid() != 0:
            # Counts all processes of the user; shells differ in the letter. It doesn't bind root: see `ProcessGrowth`.
            most = _count_tasks() + self.processes
            lines.append(f"ulimit -u {most} || ulimit -p {most}")
        if sys.platform == "linux":
            lines.append(f"echo {_OOM_SCORE} > /proc/self/oom_score_adj")
        # Skip limits that this system doesn't know, or that are lower already.
        script = f"{{ {'; '.join(lines)}; }} {_QUIET}; "
        script += _GATE if gated else ""
        if len(argv) == 3 and tuple(argv[:2]) == _SHELL:
            return [*_SHELL, f"{script}{argv[2]}"]  # it is a shell already
        return [*_SHELL, f'{script}exec "$@"', "sh", *argv]


def strip_limits(command: str) -> str:
    """A process's command line as it was given."""
    return _LIMITS.sub("", command, count=1)


@dataclass(frozen=True, slots=True)
class Confinement:
    """`readonly` are existing protected files of the workspace; `private` are the sidecar's own directories.

    `readable` and `writable` are places beside the workspace. Without `writes`, the workspace can only be read.
    """

    sandbox: SandboxTier | None
    limits: CommandLimits | None
    workspace: str
    approved: bool = False
    private: Sequence[str] = ()
    readonly: Sequence[str] = ()
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    writes: bool = True
    #: Paths that you granted the repository to read.
    granted: tuple[str, ...] = ()
    #: Hosts that you granted, for a command without network.
    hosts: tuple[str, ...] = ()
    #: For a program of ours: the network, where the sandbox can't tell hosts apart.
    network: bool = False
    #: Whether it reads the system beside the libraries of a program.
    system: bool = True

    def reading(self, places: Sequence[str]) -> "Confinement":
        """The same, and these places can be read too."""
        return replace(self, readable=(*self.readable, *places))

    @property
    def supervised(self) -> bool:
        return self.sandbox is not None and self.sandbox.supervised

    @property
    def isolated(self) -> bool:
        """Whether each command has a network of its own, so that none reaches another's ports."""
        return self.sandbox is not None and self.sandbox.own_network and not (self.approved or self.network)

    def wrap(
        self, argv: Sequence[str], cwd: str, environment: Mapping[str, str], seconds: float | None
    ) -> CommandLaunch:
        """Raises `OSError` for a program that can't start: inside a sandbox, the message would be worse."""
        if self.sandbox is None and self.limits is None:
            return CommandLaunch(argv, environment)
        _check_program(argv, cwd, environment)
        # It is marked before it runs, unless a namespace ends all of it with us.
        gated = self.limits is not None and not self.supervised and sys.platform == "linux"
        limited = argv if self.limits is None else self.limits.wrap(argv, seconds, gated=gated)
        return self._wrap(limited, cwd, environment)._replace(gated=gated)

    def _wrap(self, limited: Sequence[str], cwd: str, environment: Mapping[str, str]) -> CommandLaunch:
        if self.sandbox is None:
            return CommandLaunch(limited, environment)
        # Your real one, whatever the command's variable says: the keys in it are hidden.
        home = os.environ.get("HOME", "")
        access = CommandAccess.grant(
            self.workspace,
            home,
            approved=self.approved,
            private=self.private,
            readonly=self.readonly,
            readable=(*self.readable, *self._around()),
            writable=self.writable,
            granted=self.granted,
            writes=self.writes,
            system=self.system,
            environment=os.environ,
        )
        if self.approved:
            return self.sandbox.wrap(limited, access, cwd, environment)
        if self.network:
            return self.sandbox.wrap(limited, replace(access, network=True), cwd, environment)
        environment = self._with_identity(environment)
        if not (self.hosts and self.sandbox.own_network):
            return self.sandbox.wrap(limited, access, cwd, environment)
        gateway = Gateway(self.hosts)
        launch = self.sandbox.wrap(gateway.wrap(limited), access, cwd, gateway.environment(environment))
        return launch._replace(gateway=gateway, handles=(*launch.handles, gateway.hand_over()))

    def _around(self) -> list[str]:
        """What a command must see of the repository that the workspace is a part or a worktree of."""
        if self.approved or not self.writes:
            return []
        identity = [place] if (place := _IDENTITY.find(os.environ)) else []
        try:
            repository = find_repository(self.workspace, os.environ.get("HOME", ""))
        except ToolError:
            return identity
        return [*identity, *(place for place in repository if not f"{place}/".startswith(f"{self.workspace}/"))]

    def _with_identity(self, environment: Mapping[str, str]) -> Mapping[str, str]:
        """A Git that the command starts knows who you are, without your own configuration."""
        place = _IDENTITY.find(os.environ) if self.writes else ""
        return {"GIT_CONFIG_GLOBAL": f"{place}/config", **environment} if place else environment


def _check_program(argv: Sequence[str], cwd: str, environment: Mapping[str, str]) -> None:
    if any("\0" in word for word in argv):
        raise ValueError("embedded null byte")
    if "/" not in argv[0]:
        if shutil.which(argv[0], path=environment.get("PATH")) is None:
            raise FileNotFoundError(argv[0])
        return
    place = os.path.join(cwd, argv[0])  # noqa: PTH118 - as the system would
    if not os.path.exists(place):  # noqa: PTH110
        raise FileNotFoundError(argv[0])
    if not os.access(place, os.X_OK):
        raise PermissionError(13, "the file is not executable", argv[0])


class ProcessGrowth:
    """Notices when the whole machine has so many more processes that a command must be counted."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._level = _count_tasks()

    def exceeded(self) -> bool:
        now = _count_tasks()
        if not self.most or now - self._level <= self.most:
            return False
        self._level = now  # if the processes aren't the command's, don't count them again and again
        return True


def prefer_for_oom_kill(pid: int) -> None:
    """When memory runs out, the kernel ends this process and its children before your editor.

    `CommandLimits` does this from inside, but Landlock forbids writing to `/proc`.
    """
    if sys.platform != "linux":
        return
    try:
        handle = os.open(f"/proc/{pid}/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return  # it has ended, or belongs to another user
    try:
        os.write(handle, _OOM_SCORE.encode())
    except OSError:
        pass
    finally:
        os.close(handle)


def _max_open_files() -> int:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(_MAX_OPEN_FILES if each == resource.RLIM_INFINITY else each for each in (soft, hard, _MAX_OPEN_FILES))


def _count_tasks() -> int:
    """All tasks of this machine, in one read."""
    try:
        with open("/proc/loadavg", "rb") as file:  # noqa: PTH123 - called for every command
            return int(file.read().split()[3].partition(b"/")[2])
    except (OSError, ValueError, IndexError):
        return 0
