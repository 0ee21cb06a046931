"""The sandbox of bubblewrap: mount, process and network namespaces, and a seccomp filter."""

# Runs for each command, where pathlib would cost as much as the rest.
# ruff: noqa: PTH110, PTH112, PTH114

import os
from collections.abc import Iterable, Mapping, Sequence

from tools.local.sandbox.access import LIBRARIES, CommandAccess, CommandLaunch
from tools.local.sandbox.seccomp import build_filter, open_filter

#: Root in a container needs these for a workspace of another user; they open nothing but its files.
_ROOT_CAPABILITIES = ("--cap-add", "CAP_DAC_OVERRIDE", "--cap-add", "CAP_FOWNER", "--cap-add", "CAP_CHOWN")
#: Each command gets its own, empty.
_TEMPORARY = ("/tmp", "/var/tmp", "/run")  # noqa: S108
#: Where people have their files. A command sees its workspace there, and what it was given.
_PERSONAL = ("/home", "/root", "/mnt", "/media", "/Users")
#: Root could read these.
_SYSTEM_SECRETS = """
/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/ssl/private /var/lib/docker /var/lib/kubelet
"""
#: As root, writes to these would change the whole machine.
_KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs")


class Bubblewrap:
    tier = "bubblewrap"
    supervised = True
    holds_files = True
    own_network = True

    def __init__(self, program: str) -> None:
        self._program = program

    def wrap(
        self, argv: Sequence[str], access: CommandAccess, cwd: str, environment: Mapping[str, str]
    ) -> CommandLaunch:
        filter_handle = open_filter(build_filter("network" if access.network else "own", approved=access.approved))
        line = [self._program, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-cgroup-try"]
        line += [] if access.network else ["--unshare-net"]
        line += ["--cap-drop", "ALL", *(_ROOT_CAPABILITIES if os.geteuid() == 0 else ())]
        # The devices are new ones: a terminal of anybody else is not among them.
        line += ["--seccomp", str(filter_handle), *_system(access), "--dev", "/dev", "--proc", "/proc"]
        for place in _KERNEL:
            line += ["--ro-bind-try", place, place]
        line += _files(access)
        line += ["--setenv", "TMPDIR", "/tmp", "--chdir", cwd, "--", *argv]  # noqa: S108
        return CommandLaunch(line, environment, handles=(filter_handle,))


def _system(access: CommandAccess) -> list[str]:
    if access.system:
        return ["--ro-bind", "/", "/"]
    return [word for place in LIBRARIES for word in ("--ro-bind-try", place, place)]


def _files(access: CommandAccess) -> list[str]:
    """Empty what is private first, then fill in what the command may see, from the outside to the inside."""
    emptied = _emptied(access)
    line = [word for place in emptied for word in ("--tmpfs", place)]
    if _is_beneath(access.home, emptied):
        line += ["--dir", access.home]
    shown: list[str] = []
    for place in sorted({place for place in access.readable if _is_beneath(place, emptied) or not access.system}):
        # A mount is the slowest part of a start.
        if not _is_beneath(place, shown):
            shown.append(place)
            line += ["--ro-bind-try", place, place]
    if access.network:
        line += ["--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"]
    for place in access.writable:
        line += ["--bind", place, place]
    line += ["--bind" if access.writes else "--ro-bind", access.workspace, access.workspace, *_readonly(access)]
    visible = [access.workspace, *access.readable, *access.writable]
    line += _hide(place for place in access.hidden if not _is_beneath(place, emptied) or _is_beneath(place, visible))
    for place in access.granted:
        line += ["--ro-bind-try", place, place]
    if os.geteuid() == 0 and access.system and not access.approved:
        line += _hide(_SYSTEM_SECRETS.split())
    line += _hide(access.private)
    if _is_beneath(access.workspace, access.private):
        # A task's worktree is in the data directory, and all that the task sees of it.
        line += ["--bind" if access.writes else "--ro-bind", access.workspace, access.workspace, *_readonly(access)]
        line += _hide(place for place in access.hidden if _is_beneath(place, [access.workspace]))
    return line


def _emptied(access: CommandAccess) -> list[str]:
    """Without links: what they lead to is emptied, or is part of the system."""
    if not access.system:
        return []
    homes = [] if access.approved else [*_PERSONAL, access.home, os.path.realpath(access.home)]
    wanted = [*_TEMPORARY, *(place for place in homes if place.startswith("/") and place != "/")]
    found = dict.fromkeys(place for place in wanted if _has_entries(place) and not os.path.islink(place))
    return [place for place in found if not _is_beneath(place, found.keys() - {place})]


def _has_entries(place: str) -> bool:
    """Whether there is something to empty; temporary directories always get their own."""
    try:
        return (place in _TEMPORARY and os.path.isdir(place)) or bool(os.listdir(place))  # noqa: PTH208
    except OSError:
        return os.path.isdir(place)


def _hide(places: Iterable[str]) -> list[str]:
    """After everything else, so that nothing uncovers them."""
    line: list[str] = []
    for place in places:
        if os.path.isdir(place):
            line += ["--tmpfs", place]
        elif os.path.exists(place):
            line += ["--ro-bind", "/dev/null", place]
    return line


def _is_beneath(place: str, others: Iterable[str]) -> bool:
    return f"{place}/".startswith(tuple([f"{other.rstrip('/')}/" for other in others]))


def _readonly(access: CommandAccess) -> list[str]:
    line: list[str] = []
    repositories = {
        f"{before}/.git" for place in access.readonly for before, git, _ in [place.partition("/.git/")] if git
    }
    for place in sorted(repositories):
        # A mount of its own can't be moved away to make room for another repository.
        line += [] if os.path.islink(place) else ["--bind", place, place]
    for place in access.readonly:
        # Hold the target of a link, if the command could write it at all.
        real = os.path.realpath(place) if os.path.islink(place) else place
        if os.path.exists(real) and (real == place or real.startswith(f"{access.workspace}/")):
            line += ["--ro-bind-try", real, real]
    return line
