"""How one attempt at a part ended, as its step records it, and what the next attempt is given."""

from collections.abc import Sequence
from typing import Literal

from sidecar.fleet.crew.plan import Part
from sidecar.wire.base import Wire, optional
from sidecar.wire.tasks import Options, Status, Task

ATTEMPTS = 3
_HINTS = 8_000
_DIFF = 8_000


class Attempt(Wire):
    task_id: str
    state: Literal["merged", "failed"]
    verified: bool | None
    files: list[str] = []
    error: str = ""
    hints: list[str] = []
    #: You cancelled the part's task after the crew had asked you so often; it isn't tried again before the next time.
    given_up: int | None = optional()

    @classmethod
    def merged(cls, task: Task, files: Sequence[str]) -> "Attempt":
        return cls(task_id=task.id, state="merged", verified=task.verified, files=list(files))

    @classmethod
    def failed(cls, task: Task, error: str, hints: Sequence[str] = ()) -> "Attempt":
        return cls(task_id=task.id, state="failed", verified=task.verified, error=error, hints=list(hints))


def failure_of(task: Task, escalations: int) -> Attempt | None:
    """Why what the task did isn't merged; `None` if it may be."""
    if task.status is Status.COMPLETED and task.verified is not False:
        return None
    if task.status is Status.CANCELLED:
        return Attempt.failed(task, "You cancelled this part.").model_copy(update={"given_up": escalations})
    why = task.error.message if task.error is not None else "Its checks failed."
    return Attempt.failed(task, why)


def write_request(goal: str, part: Part, earlier: Sequence[Attempt], diff: str, messages: Sequence[str]) -> str:
    """What a specialist is asked to do."""
    lines = [
        part.instructions,
        f"This is the part “{part.title}” of a larger goal; others do the other parts at the same time.",
        f"Change only what your part needs: {', '.join(part.files)}.",
    ]
    lines += [f"It is done when these exit with 0: {'; '.join(part.checks)}"] if part.checks else []
    lines += [f"The whole goal, for orientation:\n{goal[:_HINTS]}"]
    if earlier:
        last = earlier[-1]
        lines.append(f"Attempt {len(earlier)} failed: {last.error}")
        lines += [f"Hint: {hint}" for hint in last.hints]
        lines += [f"What it had changed; nothing of it is in your files now:\n{diff[:_DIFF]}"] if diff else []
    lines += [f"The user adds: {text}" for text in messages]
    return "\n\n".join(lines)[: 10 * _HINTS]


def child_options(options: Options, part: Part, share: int, *, verify: bool = True, isolated: bool = True) -> Options:
    """The crew's options for one of its parts. A model wrote the text, so it is no consent to a command."""
    own: list[str] | Literal["auto"] = part.checks or "auto"
    return Options(
        intent="edit_code",
        agent_type=part.owner,
        models=options.models,
        effort=options.effort,
        priority=options.priority,
        max_duration=options.max_duration,
        approvals=options.approvals,
        verify="off" if options.verify == "off" or not verify else own,
        review=options.review,
        isolation="worktree" if isolated else "none",
        verify_unasked=options.verify_unasked,
        unattended=options.unattended,
        author="other",
        max_iterations=options.max_iterations,
        max_tokens=None if options.max_tokens is None else max(1, options.max_tokens // share),
        max_cost_usd=None if options.max_cost_usd is None else options.max_cost_usd / share,
    )
