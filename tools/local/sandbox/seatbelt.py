"""The sandbox of macOS. Our tests run on Linux and only read its rules.

Rules go by path, and the last match decides. They need real paths: `/tmp` is a link there.
"""

import os
from collections.abc import Iterable, Mapping, Sequence

from tools.local.sandbox.access import CommandAccess, CommandLaunch, temporary_directory

_HEAD = """(version 1)
(deny default)
(allow process-exec process-fork) (allow process-info* (target same-sandbox)) (allow signal (target same-sandbox))
(allow sysctl-read) (allow ipc-posix-sem) (allow ipc-posix-shm*) (allow pseudo-tty)
(allow file-read*) (allow file-ioctl (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx"))
"""
#: User lookup, notifications and logs. Any other service could act outside on a command's behalf.
_SERVICES = (
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") '
    '(global-name "com.apple.system.notification_center") (global-name "com.apple.system.logger"))'
)


class Seatbelt:
    tier = "sandbox-exec"
    supervised = False
    holds_files = True
    own_network = False

    def __init__(self) -> None:
        self._tmp = temporary_directory(self)

    def wrap(
        self, argv: Sequence[str], access: CommandAccess, cwd: str, environment: Mapping[str, str]
    ) -> CommandLaunch:
        rules = [
            _HEAD,
            "(allow mach-lookup) (allow network*)" if access.network else _SERVICES,
            _rule("deny file-read*", [access.home] if access.home and not access.approved else []),
            _rule("allow file-read*", [access.workspace, *access.readable]),
            _rule("allow file-write*", [*([access.workspace] if access.writes else []), self._tmp, *access.writable]),
            _rule("deny file-write*", access.readonly),
            _rule("deny file-read* file-write*", access.hidden),
            _rule("allow file-read*", access.granted),
            _rule("deny file-read* file-write*", access.private),
        ]
        if any(f"{access.workspace}/".startswith(f"{place}/") for place in access.private):
            # A task's worktree is in the data directory, and all that the task sees of it.
            rules += [
                _rule("allow file-read*", [access.workspace]),
                _rule("allow file-write*", [access.workspace] if access.writes else []),
                _rule("deny file-write*", access.readonly),
            ]
        line = ["/usr/bin/sandbox-exec", "-p", "\n".join(filter(None, rules)), *argv]
        return CommandLaunch(line, {**environment, "TMPDIR": self._tmp})


def _rule(verb: str, places: Iterable[str]) -> str:
    real = (os.path.realpath(place).replace("\\", "\\\\").replace('"', '\\"') for place in places)
    quoted = " ".join(f'(subpath "{place}")' for place in real)
    return f"({verb} {quoted})" if quoted else ""
