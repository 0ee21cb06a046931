"""The sandbox of bubblewrap: mount, process and network namespaces."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.local.sandbox.access import CommandAccess, CommandLaunch

#: Root in a container needs these for a workspace of another user; they open nothing but its files.
_ROOT_CAPABILITIES = ("--cap-add", "CAP_DAC_OVERRIDE", "--cap-add", "CAP_FOWNER", "--cap-add", "CAP_CHOWN")
#: Each command gets its own, empty.
_EMPTIED = ("/tmp", "/var/tmp", "/run")  # noqa: S108
#: As root, writes to these would change the whole machine.
_KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs")


class Bubblewrap:
    tier = "bubblewrap"
    supervised = True
    holds_files = True

    def __init__(self, program: str) -> None:
        self._program = program

    def wrap(
        self, argv: Sequence[str], access: CommandAccess, cwd: str, environment: Mapping[str, str]
    ) -> CommandLaunch:
        line = [self._program, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-cgroup-try"]
        line += [] if access.network else ["--unshare-net"]
        line += ["--cap-drop", "ALL", *(_ROOT_CAPABILITIES if os.geteuid() == 0 else ())]
        line += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        for place in _KERNEL:
            line += ["--ro-bind-try", place, place]
        for place in _EMPTIED:
            line += ["--tmpfs", place] if Path(place).is_dir() and not Path(place).is_symlink() else []
        for place in sorted(set(access.readable) - {access.home}):
            line += ["--ro-bind", place, place] if place.startswith(_EMPTIED) else []
        if access.network:
            line += ["--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"]
        for place in access.writable:
            line += ["--bind", place, place]
        if access.home.startswith(("/tmp/", "/var/tmp/")):  # noqa: S108
            line += ["--dir", access.home]
        line += ["--bind" if access.writes else "--ro-bind", access.workspace, access.workspace, *_readonly(access)]
        for place in access.hidden:
            # Last, so that nothing above uncovers it.
            if Path(place).is_dir():
                line += ["--tmpfs", place]
            elif Path(place).exists():
                line += ["--ro-bind", "/dev/null", place]
        return CommandLaunch([*line, "--setenv", "TMPDIR", "/tmp", "--chdir", cwd, "--", *argv], environment)  # noqa: S108


def _readonly(access: CommandAccess) -> list[str]:
    line: list[str] = []
    repositories = {
        f"{before}/.git" for place in access.readonly for before, git, _ in [place.partition("/.git/")] if git
    }
    for place in sorted(repositories):
        # A mount of its own can't be moved away to make room for another repository.
        line += [] if Path(place).is_symlink() else ["--bind", place, place]
    for place in access.readonly:
        # Hold the target of a link, if the command could write it at all.
        real = os.path.realpath(place) if Path(place).is_symlink() else place
        if Path(real).exists() and (real == place or real.startswith(f"{access.workspace}/")):
            line += ["--ro-bind-try", real, real]
    return line
