"""The sandbox of macOS. It has been read with care and is not tried in our tests, which run on Linux."""

from collections.abc import Mapping, Sequence

from tools.local.sandbox.home import caches, secrets
from tools.local.sandbox.port import Room, Start

_HEAD = """(version 1)
(deny default)
(allow process*) (allow signal (target same-sandbox)) (allow sysctl-read) (allow mach-lookup) (allow ipc-posix-shm*)
(allow file-read*) (allow file-write* (literal "/dev/null") (literal "/dev/tty") (subpath "/private/tmp"))
(allow file-write* (subpath "/private/var/folders"))
"""


class Seatbelt:
    tier = "sandbox-exec"
    watched = False
    holds = True

    def around(
        self, argv: Sequence[str], room: Room, cwd: str, environment: Mapping[str, str], readonly: Sequence[str]
    ) -> Start:
        home = environment.get("HOME", "")
        rules = [_HEAD, _rule("allow file-write*", [room.workspace, *(caches(home) if room.approved else ())])]
        rules.append(_rule("deny file-write*", readonly))
        if room.approved:
            rules.append("(allow network*)")
        hidden = [*(() if room.approved else secrets(home)), *room.private]
        rules += [_rule("deny file-read*", hidden), _rule("deny file-write*", hidden)]
        return Start(["/usr/bin/sandbox-exec", "-p", "\n".join(filter(None, rules)), *argv], environment)


def _rule(verb: str, places: Sequence[str]) -> str:
    if not places:
        return ""
    quoted = " ".join('(subpath "' + place.replace("\\", "\\\\").replace('"', '\\"') + '")' for place in places)
    return f"({verb} {quoted})"
