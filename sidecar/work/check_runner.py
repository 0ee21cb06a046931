"""Runs a verification's checks through the executor, as recorded calls of the task."""

from collections.abc import Sequence
from typing import Literal

from sidecar.engine.run import TaskRun
from sidecar.engine.steps import CallKey, StepKey
from sidecar.wire.base import JsonObject
from sidecar.wire.events import Event, ToolEvent
from sidecar.wire.tasks import Approvals
from tools.executor.context import BatchContext, ToolCall
from tools.executor.executor import Executor
from tools.ledger import ApprovalPrompt, IntentRecord, Ledger, ListLedger, NewBlob, Outcome, Question

#: Outcomes that say nothing about the check.
_CUT_OFF = frozenset({"cancelled", "unknown"})


class TaskCheckRunner:
    def __init__(self, run: TaskRun, executor: Executor, key: StepKey) -> None:
        self._run = run
        self._executor = executor
        self._key = key

    async def run(
        self,
        name: str,
        tool: str,
        args: JsonObject,
        *,
        seconds: float | None = None,
        approved: bool = False,
        directory: str | None = None,
        directory_label: str = "",
    ) -> Outcome | None:
        run = self._run
        call = CallKey(run.task_id, self._key, name, run.state.branch)
        ledger: Ledger = run.ledger if directory is None else CopyLedger(run, directory_label)
        call_id = await self._unused_id(call) if directory is None else str(call)
        context = BatchContext(
            workspace=directory or run.request.workspace,
            approvals=self._approvals(approved),
            ledger=ledger,
            task_text=run.consent,
            single_use=True,
            can_ask=run.request.options.can_ask and not run.request.options.verify_unasked,
            copy_of=tuple(filter(None, (run.origin, run.request.workspace if directory is not None else ""))),
        )
        try:
            # The time that you take to answer doesn't count.
            async with run.clock.limit(seconds):
                (outcome,) = await self._executor.batch([ToolCall(call_id, tool, args)], context)
        except TimeoutError:
            return None
        return outcome

    def _approvals(self, approved: bool) -> Approvals:
        wanted = self._run.request.options.approvals
        return "auto" if approved and wanted != "readonly" else wanted

    async def _unused_id(self, call: CallKey) -> str:
        """A call id without an outcome that counts: a check that was cut off before a restart runs again."""
        run, name = self._run, str(call)
        while name in run.state.intents:
            outcome = run.state.outcomes.get(name)
            if outcome is None:
                await self._executor.abandon({name: run.state.intents[name]}, run.request.workspace, run.ledger)
            elif outcome.status not in _CUT_OFF:
                break
            call = call._replace(repeat=call.repeat + 1)
            name = str(call)
        return name


class CopyLedger(ListLedger):
    """The ledger of a call in a private copy: you see its events, but it changes none of the task's files."""

    def __init__(self, run: TaskRun, label: str) -> None:
        super().__init__()
        self._run = run
        self._label = label

    def enqueue(self, event: Event) -> None:
        self._run.log.enqueue(self._with_label(event))

    def live(self, event: Event) -> None:
        self._run.log.live(event)

    def killed(self, call_id: str, pid: int, command: str) -> None:
        self._run.ledger.killed(call_id, pid, command)

    async def intend(self, call_id: str, intent: IntentRecord, event: Event, blobs: Sequence[NewBlob] = ()) -> None:
        self.enqueue(event)

    async def settle(self, call_id: str, outcome: Outcome, event: Event, blobs: Sequence[NewBlob] = ()) -> None:
        self.outcomes[call_id] = outcome
        self.enqueue(event)

    async def ask(self, question: ApprovalPrompt) -> Literal["allow", "deny"]:
        return await self._run.ledger.ask(question)

    async def choose(self, question: Question) -> str:
        return question.safe

    def _with_label(self, event: Event) -> Event:
        if not isinstance(event, ToolEvent):
            return event
        return event.model_copy(update={"args": {**event.args, "where": self._label}})
