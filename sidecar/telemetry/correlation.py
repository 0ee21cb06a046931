"""Which request, task, step, agent and tool call a log line belongs to, kept in the context of each asyncio task.

One trace id joins them: it comes from a client's `traceparent`, else it is new, and a task takes it along to workers,
shells and MCP servers.
"""

import hashlib
import re
import secrets
from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import NamedTuple

HEADER = "traceparent"
#: Version 00 of W3C Trace Context; a later version may have more fields after these.
_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")

_fields: ContextVar[Mapping[str, str | int]] = ContextVar("log_fields", default=MappingProxyType({}))
_trace: ContextVar["Trace | None"] = ContextVar("trace", default=None)


class Trace(NamedTuple):
    """A trace and the span that the next one belongs to; the span is empty at the root."""

    trace_id: str
    span_id: str = ""

    def header(self, name: str = "") -> str:
        """The `traceparent` for a call; `name` gives the same span id each time."""
        return f"00-{self.trace_id}-{span_of(name) if name else self.span_id or span_of(self.trace_id)}-01"


def parse(header: str | None) -> Trace | None:
    """`None` if it isn't a valid `traceparent`."""
    found = _TRACEPARENT.fullmatch(header.strip()) if header and len(header) < 200 else None
    if found is None or found[1] == "ff" or (found[1] == "00" and len(found[0]) != 55):
        return None
    if not int(found[2], 16) or not int(found[3], 16):
        return None
    return Trace(found[2], found[3])


def new_trace() -> Trace:
    return Trace(secrets.token_hex(16))


def trace_of(name: str, header: str | None = None) -> Trace:
    """The trace that a header names, else always the same one for this name."""
    return parse(header) or Trace(hashlib.sha256(name.encode()).hexdigest()[:32])


def span_of(name: str) -> str:
    return hashlib.sha256(f"span\n{name}".encode()).hexdigest()[:16]


def current_trace() -> Trace | None:
    return _trace.get()


def current_header() -> str | None:
    """The `traceparent` for what is called from here, with the span of the tool call or task at work."""
    trace, fields = _trace.get(), _fields.get()
    return trace.header(str(fields.get("call") or fields.get("task") or "")) if trace else None


def current_fields() -> dict[str, str | int]:
    """The fields of a log line, with the trace id as `request`."""
    trace = _trace.get()
    return {**_fields.get(), **({"request": trace.trace_id} if trace else {})}


class bind:  # used like a function; a generator takes three times as long, for each tool call
    """Add to the lines that are logged inside the block, and inside tasks that start there."""

    __slots__ = ("_fields", "_fields_token", "_trace", "_trace_token")

    def __init__(self, trace: Trace | None = None, **fields: str | int) -> None:
        self._trace = trace
        self._fields = fields

    def __enter__(self) -> None:
        self._fields_token = _fields.set({**_fields.get(), **self._fields})
        self._trace_token = _trace.set(self._trace) if self._trace else None

    def __exit__(self, *_: object) -> None:
        _fields.reset(self._fields_token)
        if self._trace_token:
            _trace.reset(self._trace_token)
