"""What can be submitted. Every door, from HTTP to the command line, uses these and nothing else."""

from dataclasses import dataclass

from sidecar.wire.tasks import ApprovalRequest, ExecuteRequest


@dataclass(frozen=True, slots=True)
class Execute:
    request: ExecuteRequest
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class Cancel:
    task_id: str


@dataclass(frozen=True, slots=True)
class Resume:
    task_id: str


@dataclass(frozen=True, slots=True)
class Say:
    """A message from the person: steers a task at work, continues one that has ended."""

    task_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The person's word on an approval."""

    task_id: str
    approval_id: str
    answer: ApprovalRequest


Operation = Execute | Cancel | Resume | Say | Answer
