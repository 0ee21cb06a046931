"""Questions to you. A task that may not wait takes a question's safe choice at once."""

from typing import TYPE_CHECKING

from sidecar.engine.state import RecordKind
from sidecar.journal.port import Record
from sidecar.wire.events import QuestionEvent
from tools.ledger import Question

if TYPE_CHECKING:
    from sidecar.engine.approvals import Waits
    from sidecar.engine.inbox import Inbox
    from sidecar.engine.task_log import TaskLog


class Questions:
    """`can_ask`: whether the task may wait for your answer."""

    def __init__(self, log: "TaskLog", inbox: "Inbox", waits: "Waits", *, can_ask: bool) -> None:
        self._log = log
        self._inbox = inbox
        self._waits = waits
        self._can_ask = can_ask

    async def ask(self, question: Question) -> str:
        """The answer, which is durable when this returns."""
        state, asked = self._log.state, _event(question)
        events, records = [], []
        if question.id not in state.questions:
            events.append(asked)
            records.append(Record(RecordKind.QUESTION, question.id, asked.to_json()))
        if question.id not in state.question_answers and not self._can_ask:
            answered = answered_event(asked, question.safe, by="policy")
            events.append(answered)
            records.append(Record(RecordKind.QUESTION_ANSWER, question.id, answered.to_json()))
        await self._log.append(*events, records=records)
        if question.id not in state.question_answers:
            async with self._waits.wait(f"Waiting for your answer: {question.text}"):
                while question.id not in state.question_answers:
                    await self._inbox.wait()
        return state.question_answers[question.id]


def answered_event(asked: QuestionEvent, answer: str, by: str | None = None) -> QuestionEvent:
    return asked.model_copy(update={"state": "answered", "answer": answer, "by": by})


def _event(question: Question) -> QuestionEvent:
    return QuestionEvent(
        question_id=question.id, text=question.text, choices=list(question.choices) or None, state="asked"
    )
