"""Who a request comes from, and what that role may call.

The sidecar's own token, which only readers of the data directory have, may do everything. A named token may do what its
role allows; a route that isn't listed here needs `decide`.
"""

import hmac
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from sidecar.config.tokens import NamedToken, Role
from sidecar.engine.errors import OperationRefused
from sidecar.wire.tasks import Options

RawHeaders = Iterable[tuple[bytes, bytes]]


class Identity(NamedTuple):
    """`name` is empty for the sidecar's own token, which has no role and no limits."""

    name: str = ""
    role: Role | None = None

    @property
    def decides(self) -> bool:
        return self.role in (None, "decide")


class KnownTokens(Protocol):
    def find(self, token: str) -> NamedToken | None: ...


OWNER = Identity()
Authenticate = Callable[[RawHeaders], Identity | None]

#: Names of routes that only read although they take a body.
_LOOK = frozenset({"route", "policy_explain", "memory_search", "memory_impact"})
#: Names of routes that start and steer tasks.
_WORK = frozenset(
    {
        "execute", "cancel", "resume", "message", "fork", "label", "create_project", "hunks", "rewind", "merge",
        "clean_worktrees", "memory_rebuild", "add_memory_note",
    }
)  # fmt: skip
#: Names of routes for the sidecar's own token alone: they give out the token, keys, or a shell's place.
_OWN = frozenset({"session_code", "session_renewal", "bridge_ticket", "keys", "set_key", "doctor"})


def may_call(identity: Identity, method: str, name: str) -> bool:
    if identity.role is None:
        return True
    if name in _OWN:
        return False
    if method == "GET" or name in _LOOK:
        return True
    return identity.role == "decide" or (identity.role == "work" and name in _WORK)


def within_role(identity: Identity, options: Options) -> Options:
    """A task's options as the role allows them: who may not decide gives no consent, neither by words nor by `auto`."""
    if identity.decides:
        return options
    check_auto(identity, options)
    return options.model_copy(update={"author": "other"})


def check_auto(identity: Identity, options: Options) -> None:
    """A task that never asks carries out every message, so only those who may answer its questions may send one."""
    if options.approvals == "auto" and not identity.decides:
        message = (
            f"The role `{identity.role}` of {identity.name} doesn't allow tasks that never ask (`approvals: auto`). "
            "Choose `ask`, `edits` or `readonly`, or ask for a token with the role `decide`."
        )
        raise OperationRefused(403, "not_allowed", message)


def bearer(token: str, tokens: KnownTokens | None = None) -> Authenticate:
    """Whose token the headers carry, if any; the first Authorization header counts."""
    expected = token.encode()

    def authenticate(headers: RawHeaders) -> Identity | None:
        given = next((value for name, value in headers if name == b"authorization"), b"")
        scheme, _, found = given.partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        if hmac.compare_digest(found.strip(), expected):
            return OWNER
        named = None if tokens is None else tokens.find(found.strip().decode("latin-1"))
        return None if named is None else Identity(named.name, named.role)

    return authenticate
