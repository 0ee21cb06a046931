"""A task at work: its books. Agents and tools write here what they are about to do and what came of it."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from sidecar.engine.budget import exceeded, stops
from sidecar.engine.clock import Clock
from sidecar.engine.state import RecordKind, TaskState, TurnRecord, UserMessage
from sidecar.engine.steps import CallKey, StepKey
from sidecar.engine.task_log import TaskLog
from sidecar.journal.port import Claim, Journal, Record
from sidecar.models.port import Delta, Reply, Stop
from sidecar.models.prices import add_usage
from sidecar.wire.events import (
    ApprovalEvent,
    ChangedFile,
    DeltaEvent,
    DiffEvent,
    Event,
    KilledProcess,
    MessageEvent,
    StatusEvent,
    UsageEvent,
)
from sidecar.wire.tasks import Status, StoredRequest, Usage
from sidecar.work.errors import AgentError
from sidecar.work.replies import CollectedReply, collect
from tools.ledger import ApprovalPrompt, IntentRecord, NewBlob, Outcome


class TaskRun(TaskLog):
    def __init__(self, claim: Claim, journal: Journal, pool: "Slots") -> None:
        super().__init__(claim, journal)
        self.request: StoredRequest = claim.request
        #: What all rounds of the task have used, in all of its lives, also where it was rewound since.
        self.usage, self._granted = _spent(claim.records, self.state)
        #: What earlier rounds have heard of what the person said, and what later ones were opened with.
        self._known = {each for message in self.state.messages for each in message.of or ()}
        for key, turn in self.state.turns.items():
            if key.round != self.state.current_round:
                self._known.update(turn.heard)
        self._heard: set[str] = set()
        self.killed_processes: list[KilledProcess] = []
        #: Why the run is being stopped: the person cancelled it, or the sidecar is going down.
        self.stopped_by: Literal["cancel", "shutdown"] | None = None
        #: Whether it is about to write how it ended: it does that to its end, and sees by then who was first.
        self.ending = False
        self._pool = pool
        self.clock = Clock()
        self._waiters = 0
        self._answered = asyncio.Event()
        #: Where agents were stopped in an earlier life of the task, which somebody has resumed since.
        self._resumed = frozenset(self.state.stopped)
        self._on_their_way = 0
        self._branches: dict[StepKey, int] = {}

    @property
    def instruction(self) -> str:
        """What the person asked for in the present round, in the person's own words."""
        opening = [message.text for message in self.state.messages if message.opens]
        return opening[-1] if opening else self.request.task

    # -- steps -------------------------------------------------------------------------------------------------------

    async def step(
        self,
        key: StepKey,
        act: Callable[[], Awaitable[str]],
        *,
        done: Callable[[str], Sequence[Event]],
        only_looks: bool = False,
    ) -> str:
        """What `act` returned when it ran, now or in an earlier life of the task.

        One that `only_looks` is not waited for: lost before anything was built on it, it is simply made again.
        """
        if key in self.state.steps:
            return self.state.steps[key]
        value = await act()
        kind = RecordKind.VERIFICATION if key.is_verification else RecordKind.STEP
        records = [self._record(kind, key, value)]
        if only_looks:
            self.enqueue(*done(value), records=records)
        else:
            await self.append(*done(value), records=records)
        return value

    async def turn(
        self,
        key: StepKey,
        agent: str,
        ask: Callable[[Sequence[str]], AsyncIterator[Delta | Reply]],
        heard: set[str],
        room: int | None = None,
    ) -> CollectedReply:
        """The turn under that key, and what of the person's words it was an answer to. `heard` is what the agent knows
        of them; each of those who work on a round hears them all."""
        turn = self.state.turns.get(key)
        if turn is None:
            turn = await self._new_turn(key, agent, ask, self.unheard(heard), room)
        if turn.reply.stop in _KEPT:
            heard.update(turn.heard)
            self._heard.update(turn.heard)
        self._branches[key] = turn.branch
        said = {message.id: message.text for message in self.state.messages}
        return CollectedReply([said[message] for message in turn.heard], turn.reply)

    async def _new_turn(
        self,
        key: StepKey,
        agent: str,
        ask: Callable[[Sequence[str]], AsyncIterator[Delta | Reply]],
        unheard: Sequence[UserMessage],
        room: int | None,
    ) -> TurnRecord:
        await self._stay_within_the_budget()
        await self.wait_for_disk()
        asked = ask([message.text for message in unheard])
        reply = await collect(asked, partial(self._show, key, agent), partial(self._cut, key, agent))
        heard = [message.id for message in unheard]
        turn = TurnRecord(heard=heard, reply=reply, branch=self.state.branch, room=room)
        said = [MessageEvent(message_id=str(key), role="assistant", agent=agent, text=reply.text)] if reply.text else []
        record = self._record(RecordKind.TURN, key, turn.to_json())
        self.usage = add_usage(self.usage, reply.usage)
        spent = [UsageEvent(**self.usage.model_dump())] if reply.usage != Usage() else []
        if reply.stop in _KEPT:
            self.state.turns[key] = turn
        # Its calls are written after it, and nothing has an effect before its intent is on the disk.
        self.enqueue(*said, *spent, records=[record] if reply.stop in _KEPT else [])
        return turn

    def unheard(self, heard: set[str]) -> list[UserMessage]:
        return [message for message in self.said() if message.id not in heard]

    def said(self) -> list[UserMessage]:
        """What the person has said for this round, beside what opened it."""
        return [message for message in self.state.messages if not message.opens and message.id not in self._known]

    def stopped(self, key: StepKey) -> None:
        """An agent came to no end by itself. Whoever resumes the task lets it take that turn."""
        if key not in self.state.stopped:
            self.enqueue(records=[self._record(RecordKind.STOPPED, key, "")])

    def resumed_at(self, key: StepKey) -> bool:
        return key in self._resumed

    def _record(self, kind: RecordKind, key: StepKey, body: str) -> Record:
        return Record(kind, str(key.on_branch(self.state.branch)), body)

    def call_id(self, key: StepKey, number: int) -> str:
        """The name of a turn's call, for good: the same in every life of the task, another on another branch.

        A rewind may lie between a turn and its calls; what came of them then does not count, and they are made anew.
        """
        call = CallKey(self.task_id, key, str(number), self._branches.get(key, 0))
        if str(call) in self.state.outcomes:
            return str(call)
        return str(replace(call, branch=self.state.branch))

    def _show(self, key: StepKey, agent: str, delta: Delta) -> None:
        whole = True if delta.anew else None
        event = DeltaEvent(
            message_id=str(key), role="assistant", agent=agent, text=delta.text, kind=delta.kind, whole=whole
        )
        self.live(event)

    def _cut(self, key: StepKey, agent: str, text: str) -> None:
        """The words of a reply that nobody waits for any more: who has read them finds them again. They are no turn."""
        # A task that goes on by itself at the next start asks again, and that reply takes their place.
        if text.strip() and self.stopped_by != "shutdown":
            self.enqueue(MessageEvent(message_id=str(key), role="assistant", agent=agent, text=text))

    async def spend(self, key: StepKey, usage: Usage) -> None:
        """What was used beside the agents' turns, remembered under that key."""
        if usage == Usage():
            return
        self.usage = add_usage(self.usage, usage)
        record = self._record(RecordKind.USAGE, key, usage.to_json())
        await self.append(UsageEvent(**self.usage.model_dump()), records=[record])

    def overspent(self) -> str | None:
        """Why the task must ask no model any more, if its budget is used."""
        _, granted = stops(self.state.budget_stops, self.state.current_round, self._granted)
        return exceeded(self.request.options, self.usage, granted)

    async def _stay_within_the_budget(self) -> None:
        why = self.overspent()
        if why is not None:
            stop, _ = stops(self.state.budget_stops, self.state.current_round, self._granted)
            await self.append(records=[self._record(RecordKind.BUDGET, stop, self.usage.to_json())])
            raise AgentError("budget_exceeded", why, retry=False)

    # -- effects: the executor's ledger ------------------------------------------------------------------------------

    @property
    def given_up(self) -> bool:
        return self.stopped_by == "cancel"

    def outcome(self, call_id: str) -> Outcome | None:
        return self.state.outcomes.get(call_id)

    def intent(self, call_id: str) -> IntentRecord | None:
        return self.state.intents.get(call_id)

    async def intend(self, call_id: str, intent: IntentRecord, event: Event, blobs: Sequence[NewBlob] = ()) -> None:
        self.keep(blobs)
        if call_id in self.state.intents:
            self.enqueue(event)
            return
        await self.append(event, records=[Record(RecordKind.INTENT, call_id, intent.to_json())], sync=True)

    async def settle(self, call_id: str, outcome: Outcome, event: Event, blobs: Sequence[NewBlob] = ()) -> None:
        self.keep(blobs)
        changed = _changed_files(outcome)
        events = (event, DiffEvent(files=changed)) if changed else (event,)
        records = [Record(RecordKind.OUTCOME, call_id, outcome.to_json())]
        if call_id in self.state.intents:
            await self.append(*events, records=records)
        else:
            # It had no effect: if this is lost, so is what was built on it, and it is simply done again.
            self.enqueue(*events, records=records)

    def killed(self, call_id: str, pid: int, command: str) -> None:
        self.killed_processes.append(KilledProcess(call_id=call_id, pid=pid, command=command))

    # -- waiting for the person --------------------------------------------------------------------------------------

    async def ask(self, question: ApprovalPrompt) -> Literal["allow", "deny"]:
        approval = ApprovalEvent(
            approval_id=question.id,
            call_id=question.call_id,
            action=question.action,
            argv=list(question.argv) if question.argv is not None else None,
            cwd=question.cwd,
            diff=question.diff,
            environment=list(question.environment) if question.environment is not None else None,
            binding=question.binding or None,
            why=question.why,
            state="requested",
        )
        if earlier := self._said_for_the_task(approval):
            return earlier
        if question.id not in self.state.answers:
            asked_before = question.id in self.state.approvals
            await self.append(
                *(() if asked_before else (approval,)),
                records=[] if asked_before else [Record(RecordKind.APPROVAL, question.id, approval.to_json())],
            )
            async with self._waiting(f"Waiting for your approval: {question.action}"):
                while question.id not in self.state.answers:
                    self._answered.clear()
                    await self._answered.wait()
        return self.state.answers[question.id].decision

    def _said_for_the_task(self, approval: ApprovalEvent) -> Literal["allow", "deny"] | None:
        """What the person has said, for the whole task, to exactly this act. A no wins.

        What was allowed for the workspace is not asked about while that holds; if it was revoked, it is asked again.
        """
        said = {
            answer.decision
            for key, answer in self.state.answers.items()
            if key in self.state.approvals
            and answer.scope != "once"
            and not (answer.scope == "workspace" and answer.decision == "allow" and approval.binding)
            and _same_act(self.state.approvals[key], approval)
        }
        return "deny" if "deny" in said else "allow" if said else None

    @asynccontextmanager
    async def _waiting(self, reason: str) -> AsyncIterator[None]:
        """The clock of the task stands still, and its place in the pool is free for another.

        Steps that run at the same time may wait at the same time: the first one stops the clock, the last starts it.
        """
        await self.move(StatusEvent(status=Status.WAITING, reason=reason), when=_AT_WORK)
        self._waiters += 1
        if self._waiters == 1:
            self._pool.leave()
            self.clock.stop()
        try:
            yield
        finally:
            self._waiters -= 1
            if not self._waiters:
                self._pool.enter()
        if self._waiters:
            return
        self.clock.go_on()
        await self.move(StatusEvent(status=Status.RUNNING), when=_AT_WORK)

    # -- what others submit while it runs ----------------------------------------------------------------------------

    def hear(self, record: Record) -> None:
        """A record that was written from outside: a message, or an answer."""
        self.state.take(record)
        self._answered.set()

    @contextmanager
    def expecting(self) -> Iterator[None]:
        """A message is being written, and will be heard in a moment: a task does not end before that."""
        self.flush()
        self._on_their_way += 1
        try:
            yield
        finally:
            self._on_their_way -= 1
            self._answered.set()

    async def quiet(self) -> None:
        """Returns when no message is on its way."""
        while self._on_their_way:
            self._answered.clear()
            await self._answered.wait()

    async def open_round(self, done: Record, late: Sequence[UserMessage]) -> None:
        """What came too late for this round opens the next one, as it would have a moment later."""
        text, of = "\n\n".join(message.text for message in late), [message.id for message in late]
        opening = UserMessage(id=f"m_{secrets.token_hex(8)}", text=text, opens=True, of=of)
        await self.append(records=[done, Record(RecordKind.MESSAGE, opening.id, opening.to_json())])
        self._known |= {*of, *self._heard}
        self._granted = self.usage


class Slots:
    """How many tasks are at work. A task that waits for a person leaves its place to another."""

    def __init__(self, free: int, wake: Callable[[], None]) -> None:
        self._free = free
        self._wake = wake

    @property
    def available(self) -> bool:
        return self._free > 0

    def enter(self) -> None:
        self._free -= 1

    def leave(self) -> None:
        self._free += 1
        self._wake()


_AT_WORK = frozenset({Status.RUNNING, Status.WAITING})
#: A reply that failed is no checkpoint: whoever tries again asks again.
_KEPT = frozenset({Stop.END, Stop.TOOL_USE, Stop.LENGTH})


def _spent(records: Iterable[Record], state: TaskState) -> tuple[Usage, Usage]:
    """What the task has used, and how much of that does not count towards the budget of its present round."""
    used, granted = Usage(), Usage()
    for record in records:
        if record.kind == RecordKind.TURN:
            usage = TurnRecord.model_validate_json(record.body).reply.usage
        elif record.kind == RecordKind.USAGE:
            usage = Usage.model_validate_json(record.body)
        else:
            continue
        used = add_usage(used, usage)
        if StepKey.parse(record.key).round != state.current_round or not state.timeline.holds(record.seq):
            granted = add_usage(granted, usage)
    return used, granted


def _same_act(one: ApprovalEvent, other: ApprovalEvent) -> bool:
    return (one.binding, one.action, one.argv, one.cwd, one.diff) == (
        other.binding,
        other.action,
        other.argv,
        other.cwd,
        other.diff,
    )


def _changed_files(outcome: Outcome) -> list[ChangedFile]:
    details: Any = outcome.details
    # A command that failed, or was ended, may have changed files all the same.
    took_effect = outcome.status == "success" or outcome.files or outcome.irreversible
    files = details.get("files") if took_effect and isinstance(details, dict) else None
    if not isinstance(files, list):
        return []
    return [
        ChangedFile(path=file["path"], change=file["change"], added=file["added"], removed=file["removed"])
        for file in files
        if isinstance(file, dict) and file.keys() >= {"path", "change", "added", "removed"}
    ]
