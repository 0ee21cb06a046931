"""Who asked for what is being done: the name of a token, or nothing for the owner of the sidecar."""

from contextvars import ContextVar

_actor: ContextVar[str | None] = ContextVar("actor", default=None)

current_actor = _actor.get
set_actor = _actor.set
