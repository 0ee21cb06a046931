"""What can be submitted. Every door, from HTTP to the command line, uses these and nothing else."""

from typing import NamedTuple

from sidecar.wire.tasks import ApprovalRequest, ExecuteRequest, ForkRequest


class Execute(NamedTuple):
    request: ExecuteRequest
    idempotency_key: str | None = None


class Fork(NamedTuple):
    """A new task that begins where another one was at one of its events."""

    task_id: str
    request: ForkRequest
    idempotency_key: str | None = None


class Cancel(NamedTuple):
    task_id: str


class Resume(NamedTuple):
    task_id: str


class SendMessage(NamedTuple):
    """A message from the person: steers a task at work, continues one that has ended."""

    task_id: str
    text: str


class AnswerApproval(NamedTuple):
    """The person's word on an approval."""

    task_id: str
    approval_id: str
    answer: ApprovalRequest


class RevokeApproval(NamedTuple):
    """What was answered for the whole task holds no longer: it is asked again."""

    task_id: str
    approval_id: str


Operation = Execute | Fork | Cancel | Resume | SendMessage | AnswerApproval | RevokeApproval
