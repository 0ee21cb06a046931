"""Limits on what peers may send and hold. `connections.py` keeps them.

A peer that has not shown the token is bounded in connections, bytes and seconds. Peers that have shown it share a
budget for unfinished bodies.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from sidecar.api.identity import RawHeaders


class Abortable(Protocol):
    def abort(self) -> None: ...


@dataclass
class ConnectionLimits:
    """What all connections share."""

    #: Whether these headers carry the token.
    authenticate: Callable[[RawHeaders], object]
    header_bytes: int = 64 * 1024
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    #: The body of a peer without the token: a one-time code, a nonce, a proof.
    stranger_body_bytes: int = 16 * 1024
    stranger_body_seconds: float = 10.0
    #: Connections that have sent bytes but no token. One more closes the oldest, so that a flood doesn't lock you out.
    strangers: int = 512
    #: Connections that have sent nothing yet, as most of a thousand that you open at once. They cost little memory.
    silent: int = 2_048
    #: Connections of peers with the token; streams have their own limit below this one.
    connections: int = 2_048
    #: Bytes of all unfinished bodies together. Bodies up to `small_body_bytes` are accepted beyond it.
    held_bytes: int = 64 * 1024 * 1024
    small_body_bytes: int = 64 * 1024
    held: int = 0
    waiting: dict[Abortable, None] = field(default_factory=dict)
    unheard: dict[Abortable, None] = field(default_factory=dict)
    trusted: set[Abortable] = field(default_factory=set)
