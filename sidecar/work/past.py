"""What was said and done before, rebuilt from a task's records: a conversation goes on where it was.

The same records give the same turns, so a provider's prompt cache still knows the beginning of the next request.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

from sidecar.engine.state import TaskState, TurnRecord
from sidecar.engine.steps import CONTEXT, CallKey, StepKey
from sidecar.models.port import ModelTurn, Stop, ToolReturn, ToolTurn, ToolUse, Turn, UserTurn
from sidecar.work.archive import RECALL
from sidecar.work.attachments import user_turn
from sidecar.work.compaction import turn_tokens
from sidecar.work.loop import NO_TEXT
from sidecar.work.tool_selection import MORE_TOOLS
from sidecar.work.turn_log import DELEGATE, delegated_step, tool_return
from tools.ledger import Outcome
from tools.text import shorten

#: Characters of an old result that stay.
_SHORT = 300
#: When the earlier rounds no longer fit, they shrink to this share of their room, so that not every round shrinks them.
_TARGET = 2 / 3


@dataclass(slots=True)
class Replay:
    """The turns of some steps, and the ids of your messages among them."""

    turns: list[Turn] = field(default_factory=list)
    heard: set[str] = field(default_factory=set)


def replay(state: TaskState, task_id: str, wanted: Callable[[StepKey], bool]) -> Replay:
    """The turns that the agents of a round took in the conversation that they share."""
    found = Replay()
    messages = {message.id: message for message in state.messages}
    for key, record in state.turns.items():
        if record.apart or not wanted(key):
            continue
        found.heard.update(record.heard)
        found.turns += [UserTurn(text=text) for text in record.instructions or ()]
        found.turns += [user_turn(messages[each]) for each in record.heard if each in messages]
        found.turns += _reply_turns(state, task_id, key, record)
    return found


def _reply_turns(state: TaskState, task_id: str, key: StepKey, record: TurnRecord) -> Iterator[Turn]:
    reply = record.reply
    if reply.stop is not Stop.TOOL_USE:
        complete = reply.stop is Stop.END and reply.text.strip()
        yield ModelTurn(text=reply.text, kept=reply.kept) if complete else ModelTurn(text=reply.text.strip() or NO_TEXT)
        return
    yield ModelTurn(text=reply.text, calls=reply.calls, kept=reply.kept)
    returns = []
    numbers = count()
    for call in reply.calls:
        # Calls about the conversation itself have neither a number nor a record.
        number = -1 if call.tool in (MORE_TOOLS, RECALL) else next(numbers)
        if call.tool == DELEGATE:
            returns.append(_answer(state, key, number, call))
            continue
        outcome = _outcome(state, CallKey(task_id, key, str(number), record.branch))
        returns.append(_return(call, outcome))
    yield ToolTurn(returns=returns)


def _outcome(state: TaskState, call: CallKey) -> Outcome | None:
    known = state.outcomes.get(str(call))
    return known or state.outcomes.get(str(CallKey(call.task_id, call.step, call.name, state.branch)))


def _answer(state: TaskState, key: StepKey, number: int, call: ToolUse) -> ToolReturn:
    """What another agent answered, from its own turns."""
    step = delegated_step(key, number)
    texts = [turn.reply.text for each, turn in state.turns.items() if each.step == step and turn.reply.text]
    return ToolReturn(id=call.id, tool=call.tool, status="success", content=texts[-1] if texts else "(no answer)")


def _return(call: ToolUse, outcome: Outcome | None) -> ToolReturn:
    if outcome is not None:
        return tool_return(call, outcome)
    return ToolReturn(id=call.id, tool=call.tool, status="success", content="Done; call it again if you need it.")


@dataclass(frozen=True)
class PastRound:
    """A finished round: what you asked, what the agents did, and their answer."""

    asked: str
    answered: str
    context: str = ""
    work: Sequence[Turn] = ()

    @cached_property
    def versions(self) -> list[list[Turn]]:
        """The round as it was, with short results, and with nothing but question and answer."""
        spoken: list[Turn] = [UserTurn(text=self.asked), ModelTurn(text=self.answered)]
        if not self.work:
            return [spoken, spoken, spoken]
        opening: list[Turn] = [UserTurn(text=text) for text in (self.context, self.asked) if text]
        return [[*opening, *self.work], [UserTurn(text=self.asked), *map(_shortened, self.work)], spoken]


def past_rounds(state: TaskState, task_id: str, done: int) -> list[PastRound]:
    """The finished rounds, oldest first, of which the task itself carried out the last `done`; a fork has others."""
    first = len(state.rounds) - done
    return [
        PastRound(each.asked, each.answered)
        if place < first
        else PastRound(each.asked, each.answered, *_work_of(state, task_id, place - first + 1))
        for place, each in enumerate(state.rounds)
    ]


def _work_of(state: TaskState, task_id: str, number: int) -> tuple[str, list[Turn]]:
    context = state.steps.get(StepKey(number, CONTEXT), "")
    return context, replay(state, task_id, lambda key: key.round == number).turns


def select_past(rounds: Sequence[PastRound], room: int) -> tuple[list[Turn], int]:
    """The turns of earlier rounds within `room` tokens, and the number of rounds that don't fit at all.

    While they fit, they stay word for word. Otherwise the oldest lose their results first, then all but question and
    answer, and then they are left out.
    """
    chosen = [each.versions[0] for each in rounds]
    total = sum(map(_size, chosen))
    if total > room:
        target = int(room * _TARGET)
        for level in (1, 2):
            for place, each in enumerate(rounds):
                if total > target:
                    total += _size(each.versions[level]) - _size(chosen[place])
                    chosen[place] = each.versions[level]
        while chosen and total > target:
            total -= _size(chosen.pop(0))
    return [turn for turns in chosen for turn in turns], len(rounds) - len(chosen)


def _size(turns: Collection[Turn]) -> int:
    return sum(map(turn_tokens, turns))


def _shortened(turn: Turn) -> Turn:
    if isinstance(turn, ToolTurn):
        return ToolTurn.model_construct(
            returns=[
                back.model_copy(update={"content": shorten(back.content, _SHORT, "; call it again if you need it")})
                for back in turn.returns
            ]
        )
    return turn
