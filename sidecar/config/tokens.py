"""Tokens of people and programs on other machines: named, with a role, kept as hashes, revocable."""

import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

from sidecar.config.paths import write_private

#: `look` reads, `work` also starts and steers tasks, `decide` also answers approvals and changes what is permitted.
Role = Literal["look", "work", "decide"]
ROLES: tuple[Role, ...] = get_args(Role)
FILE = "tokens.json"
_NAME = re.compile(r"[\w.@-]{1,64}")
_PREFIX = "brain_"


class TokenError(Exception):
    """Says what is wrong with a name or a role."""


@dataclass(frozen=True, slots=True)
class NamedToken:
    name: str
    role: Role
    #: SHA-256: a random token of 256 bits needs no slow hash.
    hash: str
    at: float


class Tokens:
    """The file is read again whenever it changed, so a revoked token is refused with the next request."""

    def __init__(self, directory: Path, clock: Callable[[], float] = time.time) -> None:
        self._file = directory / FILE
        self._clock = clock
        self._stamp: tuple[int, int] | None = None
        self._by_hash: dict[str, NamedToken] = {}

    def add(self, name: str, role: str) -> str:
        """The new token, which is shown once. A name has one token: an earlier one stops working."""
        if not _NAME.fullmatch(name):
            raise TokenError("A name has 1 to 64 letters, digits, dots, dashes, underscores or @.")
        if role not in ROLES:
            raise TokenError(f"The role is one of: {', '.join(ROLES)}.")
        token = _PREFIX + secrets.token_urlsafe(32)
        added = NamedToken(name, role, _hash(token), self._clock())
        self._save([*(each for each in self.all() if each.name != name), added])
        return token

    def remove(self, name: str) -> bool:
        left = [each for each in self.all() if each.name != name]
        found = len(left) < len(self._by_hash)
        if found:
            self._save(left)
        return found

    def all(self) -> list[NamedToken]:
        self._read()
        return list(self._by_hash.values())

    def find(self, token: str) -> NamedToken | None:
        if not token.startswith(_PREFIX):
            return None
        self._read()
        return self._by_hash.get(_hash(token))

    def _read(self) -> None:
        try:
            found = self._file.stat()
        except FileNotFoundError:
            self._stamp, self._by_hash = None, {}
            return
        stamp = (found.st_mtime_ns, found.st_ino)
        if stamp == self._stamp:
            return
        # A file that can't be read lets nobody in.
        self._by_hash = {}
        tokens = [NamedToken(**each) for each in json.loads(self._file.read_text(encoding="utf-8"))]
        self._by_hash = {each.hash: each for each in tokens if each.role in ROLES}
        self._stamp = stamp

    def _save(self, tokens: list[NamedToken]) -> None:
        write_private(self._file, json.dumps([asdict(each) for each in tokens]))
        self._stamp = None


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
