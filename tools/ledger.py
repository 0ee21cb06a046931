"""What the executor needs of the one who keeps the books: the engine for a task, a plain list for a single batch."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from pydantic import AliasChoices, Field, JsonValue

from sidecar.wire.base import JsonObject, Wire, optional
from sidecar.wire.events import ErrorBody, Event, ToolStatus
from tools.errors import ApprovalRequired


def digest(content: bytes) -> str:
    """The name of a content: what an intent records, and what a blob is found by."""
    return hashlib.sha256(content).hexdigest()


def _none(found: list[object]) -> bool:
    return not found


class FileState(Wire):
    """A change of one file: the hashes before and after; `None` is a file that does not exist.

    A link's content is where it leads, and its mode says that it is one. `mode` is the mode afterwards, or that of a
    file that is deleted; `was` the mode before, where a change was seen by looking.
    """

    path: str
    before: str | None
    after: str | None
    mode: int | None = None
    was: int | None = optional()


class IrreversibleChange(Wire):
    """A file that a command changed and that cannot be brought back, and why."""

    path: str
    change: Literal["created", "modified", "deleted"]
    why: str


class IntentRecord(Wire):
    """What a call is about to do, on disk before it is done."""

    tool: str
    args: JsonObject
    #: Stored as `site`, the name that earlier journals hold.
    backend: str = Field(validation_alias=AliasChoices("backend", "site"), serialization_alias="site")
    files: list[FileState] = []
    #: For a command: the name of the content that says what the workspace was like before it.
    scan: str | None = optional()


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
    #: What a command did to files, found by looking before and after it.
    files: list[FileState] = Field(default_factory=list, exclude_if=_none)
    unkept: list[IrreversibleChange] = Field(default_factory=list, exclude_if=_none)


class NewBlob(NamedTuple):
    """A content to be kept; `like` names one that it resembles."""

    data: bytes
    like: str | None = None


@dataclass(frozen=True, slots=True)
class ApprovalPrompt:
    """What a person is asked before a call may run. The same question has the same id, also after a restart."""

    id: str
    call_id: str
    action: str
    why: str
    argv: tuple[str, ...] | None = None
    cwd: str | None = None
    diff: str | None = None
    #: The names of what a command sees of the environment.
    environment: tuple[str, ...] | None = None
    #: Stands for exactly what would be done; another argument, program or value of the environment has another one.
    binding: str = ""


class Ledger(Protocol):
    @property
    def given_up(self) -> bool:
        """Whether what is cut off now is over, because a person has cancelled it all; else it may be gone on with."""

    def outcome(self, call_id: str) -> Outcome | None: ...

    def intent(self, call_id: str) -> IntentRecord | None: ...

    def enqueue(self, event: Event) -> None:
        """Record an event in order, without waiting for it to be durable."""

    def live(self, event: Event) -> None:
        """Show an event to those who watch now; it is not recorded."""

    async def intend(self, call_id: str, intent: IntentRecord, event: Event, blobs: Sequence[NewBlob] = ()) -> None:
        """Returns when the intent is on the disk; only then may the act begin."""

    async def blob(self, digest: str) -> bytes | None:
        """A content that came with an intent or an outcome, by its SHA-256; `None` if it was not kept."""

    def killed(self, call_id: str, pid: int, command: str) -> None:
        """A process was ended because its call was."""

    async def settle(self, call_id: str, outcome: Outcome, event: Event, blobs: Sequence[NewBlob] = ()) -> None:
        """Returns when the outcome of an effect is durable; only then may anybody build on it."""

    async def ask(self, question: ApprovalPrompt) -> Literal["allow", "deny"]: ...


@dataclass(eq=False)
class ListLedger:
    """A ledger in memory, for a batch that nobody resumes. Nobody is there to be asked, unless an answer is given."""

    events: list[Event] = field(default_factory=list)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    intents: dict[str, IntentRecord] = field(default_factory=dict)
    ended: list[tuple[str, int, str]] = field(default_factory=list)
    questions: list[ApprovalPrompt] = field(default_factory=list)
    blobs: dict[str, bytes] = field(default_factory=dict)
    answer: Literal["allow", "deny"] | None = None
    given_up: bool = False

    def outcome(self, call_id: str) -> Outcome | None:
        return self.outcomes.get(call_id)

    def intent(self, call_id: str) -> IntentRecord | None:
        return self.intents.get(call_id)

    def enqueue(self, event: Event) -> None:
        self.events.append(event)

    def live(self, event: Event) -> None:
        self.events.append(event)

    async def intend(self, call_id: str, intent: IntentRecord, event: Event, blobs: Sequence[NewBlob] = ()) -> None:
        self.intents[call_id] = intent
        self.blobs.update((digest(blob.data), blob.data) for blob in blobs)
        self.events.append(event)

    async def blob(self, digest: str) -> bytes | None:
        return self.blobs.get(digest)

    def killed(self, call_id: str, pid: int, command: str) -> None:
        self.ended.append((call_id, pid, command))

    async def settle(self, call_id: str, outcome: Outcome, event: Event, blobs: Sequence[NewBlob] = ()) -> None:
        self.outcomes[call_id] = outcome
        self.blobs.update((digest(blob.data), blob.data) for blob in blobs)
        self.events.append(event)

    async def ask(self, question: ApprovalPrompt) -> Literal["allow", "deny"]:
        self.questions.append(question)
        if self.answer is None:
            raise ApprovalRequired(f"This needs a person's approval ({question.why}), and nobody is asked here.")
        return self.answer
