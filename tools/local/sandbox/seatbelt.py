"""The sandbox of macOS. It has been read with care and is not tried in our tests, which run on Linux.

Rules are by path, and the last one that fits decides. They speak of a place by its real name: `/tmp` is a link there.
"""

import os
from collections.abc import Iterable, Mapping, Sequence

from tools.local.sandbox.home import caches, secrets
from tools.local.sandbox.port import Room, Start
from tools.local.sandbox.temporary import directory_of

_HEAD = """(version 1)
(deny default)
(allow process-exec process-fork) (allow process-info* (target same-sandbox)) (allow signal (target same-sandbox))
(allow sysctl-read) (allow ipc-posix-sem) (allow ipc-posix-shm*) (allow pseudo-tty)
(allow file-read*) (allow file-ioctl (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx"))
"""
#: Who looks up users and the clock. Any other service could do, outside, what it is asked from in here.
_SERVICES = (
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") '
    '(global-name "com.apple.system.notification_center") (global-name "com.apple.system.logger"))'
)


class Seatbelt:
    tier = "sandbox-exec"
    watched = False
    holds = True

    def __init__(self) -> None:
        self._tmp = directory_of(self)

    def around(
        self, argv: Sequence[str], room: Room, cwd: str, environment: Mapping[str, str], readonly: Sequence[str]
    ) -> Start:
        home = environment.get("HOME", "")
        rules = [_HEAD, "(allow mach-lookup) (allow network*)" if room.approved else _SERVICES]
        rules.append(_rule("allow file-write*", [room.workspace, self._tmp, *(caches(home) if room.approved else ())]))
        rules.append(_rule("deny file-write*", readonly))
        hidden = [*(() if room.approved else secrets(home)), *room.private]
        rules += [_rule("deny file-read* file-write*", hidden)]
        line = ["/usr/bin/sandbox-exec", "-p", "\n".join(filter(None, rules)), *argv]
        return Start(line, {**environment, "TMPDIR": self._tmp})


def _rule(verb: str, places: Iterable[str]) -> str:
    quoted = " ".join('(subpath "' + _escaped(os.path.realpath(place)) + '")' for place in places)
    return f"({verb} {quoted})" if quoted else ""


def _escaped(place: str) -> str:
    return place.replace("\\", "\\\\").replace('"', '\\"')
