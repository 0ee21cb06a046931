"""Routes for the standing permissions of repositories."""

import ipaddress
import re
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from starlette.requests import Request

from sidecar.api.route import route
from sidecar.config.grants import Grants
from sidecar.config.repositories import is_remote_name
from sidecar.engine.errors import OperationRefused
from sidecar.wire.system import GrantInfo, GrantList, GrantRequest, RevokeGrantRequest
from tools.policy import shell
from tools.policy.package_managers import MANAGERS

_LAST = 253_402_300_800
_HOST = re.compile(r"(?!-)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*\Z")


class GrantRoutes:
    """`private` is the data directory, which nothing can be granted to read."""

    def __init__(self, grants: Grants, private: Path, workspace: Callable[[str | None], str]) -> None:
        self._grants = grants
        self._private = private
        self._workspace = workspace

    @route("GET /api/brain/grants", "grants")
    async def list(self, request: Request) -> GrantList:
        """List the standing permissions of repositories. They also cover the worktrees and clones that the sidecar
        makes of a repository."""
        return GrantList(grants=[GrantInfo.from_object(grant) for grant in self._grants.all()])

    @route("POST /api/brain/grants", "grant")
    async def add(self, request: Request, wanted: GrantRequest) -> GrantInfo:
        """Grant a repository a standing permission. `command`: run exactly this command line. `host`, `read`: its
        commands may reach this host, read this path. `install`: install packages from the registry. `checks`: run its
        tests and builds. `spend`: at most so many dollars for each unattended task."""
        place = wanted.workspace if is_remote_name(wanted.workspace) else self._workspace(wanted.workspace)
        until = wanted.until.timestamp() if isinstance(wanted.until, datetime) else wanted.until
        if until is not None and until <= time.time():
            raise _refused("`until` is in the past; nothing was granted.")
        if until is not None and not until < _LAST:
            raise _refused("`until` is beyond the year 9999; leave it out for a grant without an end.")
        return GrantInfo.from_object(self._grants.add(place, wanted.kind, self._value(wanted), until))

    @route("POST /api/brain/grants/revoke", "revoke_grant", refusals=(404,))
    async def revoke(self, request: Request, wanted: RevokeGrantRequest) -> GrantList:
        """Revoke a standing permission. Takes effect at once, for running tasks too."""
        if not self._grants.revoke(wanted.id):
            raise OperationRefused(404, "unknown_grant", f"No grant has the id {wanted.id[:100]}.")
        return await self.list(request)

    def _value(self, wanted: GrantRequest) -> str | None:
        value = wanted.value
        if wanted.kind == "spend":
            return _dollars(value)
        text = value.strip() if isinstance(value, str) else ""
        match wanted.kind:
            case "host":
                return _host(text)
            case "read":
                return self._path(text)
            case "install" if text and text not in MANAGERS:
                raise _refused(f"{text} is none of the known package managers: {', '.join(sorted(MANAGERS))}.")
            case "command" | "checks" if text or wanted.kind == "command":
                return _command(text)
        return text or None

    def _path(self, text: str) -> str:
        path = Path(text)
        if "\0" in text or not path.is_absolute() or not path.exists():
            raise _refused("A path to read must be absolute and exist.")
        real, private = path.resolve(), self._private.resolve()
        if real in (private, *private.parents) or private in real.parents:
            raise _refused(f"{real} holds the sidecar's own files, which no command may read.")
        return str(real)


def _refused(why: str) -> OperationRefused:
    return OperationRefused(422, "invalid_grant", why)


def _command(text: str) -> str:
    words = shell.simple(text) if text else "it is empty"
    if isinstance(words, str):
        raise _refused(f"Only one simple command can be granted, and {words}.")
    return text


def _host(text: str) -> str:
    name = text.lower().rstrip(".")
    if _HOST.match(name) is None:
        raise _refused("A host is a name such as example.com, without scheme, port or wildcard.")
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name
    raise _refused("A host is granted by its name, not by an address.")


def _dollars(value: str | float | None) -> str:
    try:
        amount = float(value if value is not None else "")
    except ValueError:
        amount = -1.0
    if not 0 <= amount <= 1_000_000:
        raise _refused("A limit is a number of dollars for each task, such as 2.50.")
    return f"{amount:g}"
