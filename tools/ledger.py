"""What the executor needs of the one who keeps the books: the engine for a task, a plain list for a single batch."""

from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import JsonValue

from sidecar.wire.base import JsonObject, Wire, optional
from sidecar.wire.events import ErrorBody, Event, ToolStatus


class FileState(Wire):
    """A file of an intent: the hashes before and after; `None` is a file that does not exist."""

    path: str
    before: str | None
    after: str | None


class Intent(Wire):
    """What a call is about to do, on disk before it is done."""

    tool: str
    args: JsonObject
    site: str
    files: list[FileState] = []


class Outcome(Wire):
    """What came of a call; the same for the model however often it is asked for."""

    status: ToolStatus
    content: str
    details: JsonValue = optional()
    summary: str
    error: ErrorBody | None = optional()
    duration_ms: float
    cached: bool = False
    executor: str = "local"


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked before a call may run. The same question has the same id, also after a restart."""

    id: str
    call_id: str
    action: str
    why: str
    argv: tuple[str, ...] | None = None
    cwd: str | None = None
    diff: str | None = None


class Ledger(Protocol):
    def outcome(self, call_id: str) -> Outcome | None: ...

    def intent(self, call_id: str) -> Intent | None: ...

    def note(self, event: Event) -> None:
        """Record an event in order, without waiting for it to be durable."""

    def live(self, event: Event) -> None:
        """Show an event to those who watch now; it is not recorded."""

    async def intend(self, call_id: str, intent: Intent, event: Event, blobs: tuple[bytes, ...] = ()) -> None:
        """Returns when the intent is on the disk; only then may the act begin."""

    async def settle(self, call_id: str, outcome: Outcome, event: Event) -> None:
        """Returns when the outcome is durable; only then may anybody build on it."""

    async def ask(self, question: Question) -> Literal["allow", "deny"]: ...
