"""The ledger port: where the executor records calls. The engine implements it for tasks; `ListLedger` keeps a list."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from pydantic import AliasChoices, Field

from sidecar.wire.base import ErrorBody, JsonObject, ToolStatus, UncheckedJson, Wire, optional
from sidecar.wire.events import Event

Answer = Literal["allow", "deny"]


def digest(content: bytes) -> str:
    """The SHA-256 by which intent records and blobs name a content."""
    return hashlib.sha256(content).hexdigest()


def _is_empty(items: list[object]) -> bool:
    return not items


class FileState(Wire):
    """One file before and after a change, as hashes; `None` is a file that does not exist.

    The content of a symlink is its target, and its mode marks it as a link. `mode` is the mode after the change, or
    the mode of a deleted file; `was` is the mode before, known only for changes found by scanning.
    """

    path: str
    before: str | None
    after: str | None
    mode: int | None = None
    was: int | None = optional()
    #: Why it isn't known that the command changed it, or only the command.
    doubt: str | None = optional()
    #: Of a created file, how many folders around it were created as well; an undo removes them if they are empty.
    folders: int | None = optional()


class IrreversibleChange(Wire):
    """A file that a command changed and that can't be restored, with the reason."""

    path: str
    change: Literal["created", "modified", "deleted"]
    why: str


class GitHead(Wire):
    """Git's state before a command: the commit of HEAD, empty without one, `None` if unknown; and the Unix time."""

    commit: str | None
    at: int


class IntentRecord(Wire):
    """What a call is about to do; on disk before the call acts."""

    tool: str
    args: JsonObject
    #: Stored as `site`, the name that earlier journals hold.
    backend: str = Field(validation_alias=AliasChoices("backend", "site"), serialization_alias="site")
    files: list[FileState] = []
    #: For a call in a shell: its session on the bridge.
    session: str | None = optional()
    #: For a command: digest of the blob that describes the workspace before it ran.
    scan: str | None = optional()
    #: For a command: Git's state before it ran.
    head: GitHead | None = optional()


class Outcome(Wire):
    """How a call ended. A repeated call with the same id gets the same outcome."""

    status: ToolStatus
    content: str
    details: UncheckedJson = optional()
    summary: str
    error: ErrorBody | None = optional()
    duration_ms: float
    cached: bool = False
    executor: str = "local"
    #: The files that a command changed, found by scanning the workspace before and after it.
    files: list[FileState] = Field(default_factory=list, exclude_if=_is_empty)
    #: Stored as `unkept`, the name that earlier journals hold.
    irreversible: list[IrreversibleChange] = Field(
        default_factory=list,
        exclude_if=_is_empty,
        validation_alias=AliasChoices("irreversible", "unkept"),
        serialization_alias="unkept",
    )


class NewBlob(NamedTuple):
    """A content to store; `like` is the digest of a similar one to delta against."""

    data: bytes
    like: str | None = None


class ApprovalPrompt(NamedTuple):
    """What a person approves or denies. The same request has the same id, also after a restart."""

    id: str
    call_id: str
    tool: str
    action: str
    why: str
    argv: tuple[str, ...] | None = None
    cwd: str | None = None
    diff: str | None = None
    #: How many lines of the diff are left out.
    omitted_lines: int = 0
    #: Since when the diff shows changes of files that the call runs; without it, what the call would write.
    since: Literal["trusted", "asked"] | None = None
    #: Names of the environment variables that a command sees.
    environment: tuple[str, ...] | None = None
    #: Hash of exactly what would run: arguments, program files, environment values, diff.
    binding: str = ""


class Question(NamedTuple):
    """The same question has the same id, also after a restart. Without `choices`, any text is an answer."""

    id: str
    text: str
    #: The answer of a task that may not wait: skip, don't repeat.
    safe: str
    choices: tuple[str, ...] = ()


class Ledger(Protocol):
    @property
    def given_up(self) -> bool:
        """Whether the task was cancelled for good, so that nothing resumes an interrupted call."""

    def outcome(self, call_id: str) -> Outcome | None: ...

    def intent(self, call_id: str) -> IntentRecord | None: ...

    def enqueue(self, event: Event) -> None:
        """Record an event in order, without waiting until it is durable."""

    def live(self, event: Event) -> None:
        """Send an event to current readers without recording it."""

    async def intend(self, call_id: str, intent: IntentRecord, event: Event, blobs: Sequence[NewBlob] = ()) -> None:
        """Return once the record is on disk; only then may the call act."""

    async def blob(self, digest: str) -> bytes | None:
        """A content stored with an intent record or an outcome; `None` if it isn't there."""

    def killed(self, call_id: str, pid: int, command: str) -> None:
        """Record that a process was killed because its call ended."""

    async def settle(self, call_id: str, outcome: Outcome, event: Event, blobs: Sequence[NewBlob] = ()) -> None:
        """Return once the outcome of an effect is durable; only then may anyone build on it."""

    async def ask(self, question: ApprovalPrompt) -> Answer | None:
        """Wait for your answer; `None` if the task may not wait."""

    async def choose(self, question: Question) -> str:
        """Wait for your choice, or take the safe one if the task may not wait. It is durable when this returns."""

    def repeats(self, call_id: str) -> int:
        """How often a person had this call run again after its effect was unknown."""

    async def repeat(self, call_id: str) -> None:
        """Record that it runs once more; return when that is durable."""


@dataclass(eq=False)
class ListLedger:
    """A ledger in memory, for a batch that is never resumed. It gives every approval prompt the same `answer`."""

    events: list[Event] = field(default_factory=list)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    intents: dict[str, IntentRecord] = field(default_factory=dict)
    ended: list[tuple[str, int, str]] = field(default_factory=list)
    questions: list[ApprovalPrompt] = field(default_factory=list)
    blobs: dict[str, bytes] = field(default_factory=dict)
    answer: Answer | None = None
    #: What it answers to questions, in order; then the safe choice.
    choices: list[str] = field(default_factory=list)
    chosen: list[Question] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
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

    async def ask(self, question: ApprovalPrompt) -> Answer | None:
        self.questions.append(question)
        return self.answer

    async def choose(self, question: Question) -> str:
        self.chosen.append(question)
        return self.choices.pop(0) if self.choices else question.safe

    def repeats(self, call_id: str) -> int:
        return self.repeated.count(call_id)

    async def repeat(self, call_id: str) -> None:
        self.repeated.append(call_id)
