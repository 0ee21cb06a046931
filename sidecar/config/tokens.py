"""Tokens of people and programs on other machines: named, with a role, kept as hashes, revocable."""

import hashlib
import json
import re
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from sidecar.config.errors import UsageError
from sidecar.config.stored import StoredValue

#: `look` reads, `work` also starts and steers tasks, `decide` also answers approvals and changes what is permitted.
Role = Literal["look", "work", "decide"]
ROLES: tuple[Role, ...] = get_args(Role)
FILE = "tokens.json"
_NAME = re.compile(r"[\w.@-]{1,64}")
_PREFIX = "brain_"


class TokenError(UsageError):
    """Says what is wrong with a name or a role."""


class NamedToken(NamedTuple):
    name: str
    role: Role
    #: SHA-256: a random token of 256 bits needs no slow hash.
    hash: str
    at: float


class Tokens:
    """The file is read again whenever it changed, so a revoked token is refused with the next request."""

    def __init__(self, directory: Path) -> None:
        self._stored = StoredValue(directory / FILE, _read)

    def add(self, name: str, role: str) -> str:
        """The new token, which is shown once. A name has one token: an earlier one stops working."""
        token, added = new_token(name, role, time.time())
        self._save([*(each for each in self.all() if each.name != name), added])
        return token

    def remove(self, name: str) -> bool:
        before = self.all()
        left = [each for each in before if each.name != name]
        if len(left) < len(before):
            self._save(left)
        return len(left) < len(before)

    def all(self) -> list[NamedToken]:
        return list(self._stored.get().values())

    def find(self, token: str) -> NamedToken | None:
        return find_token(self._stored.get(), token)

    def _save(self, tokens: list[NamedToken]) -> None:
        self._stored.set({each.hash: each for each in tokens}, json.dumps([each._asdict() for each in tokens]))


def new_token(name: str, role: str, at: float) -> tuple[str, NamedToken]:
    """A token, and what is kept of it."""
    if not _NAME.fullmatch(name):
        raise TokenError("A name has 1 to 64 letters, digits, dots, dashes, underscores or @.")
    if role not in ROLES:
        raise TokenError(f"The role is one of: {', '.join(ROLES)}.")
    token = _PREFIX + secrets.token_urlsafe(32)
    return token, NamedToken(name, role, _hash(token), at)


def find_token(known: Mapping[str, NamedToken], token: str) -> NamedToken | None:
    """`known` are tokens by their hashes."""
    return known.get(_hash(token)) if token.startswith(_PREFIX) else None


def _read(file: Path) -> dict[str, NamedToken]:
    """By their hashes. An unreadable file admits no token."""
    try:
        tokens = [NamedToken(**each) for each in json.loads(file.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return {}
    return {each.hash: each for each in tokens if each.role in ROLES}


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
