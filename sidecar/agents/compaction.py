"""When the window fills: what old calls brought is left out, first the oldest, until half of the room is free.

What the person and the program said (the rules, the request, the plan, what to mend) stays word for word, and so do the
newest turns and the newest check that failed. A pure function of the history: a resumed task leaves out the same. What
is left out is in the task's records, and can be read again.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from sidecar.agents.tokens import of_turn
from sidecar.models.port import ModelTurn, ToolReturn, ToolTurn, ToolUse, Turn

#: So many of the newest turns stay as they are.
NEWEST = 6
_SHORT = 400
_CHECKS = frozenset(("run_tests", "run_command", "get_diagnostics"))
_FAILED = re.compile(r"\b(fail(ed|ures?)?|errors?|exit(ed)?( with)?( code)? [1-9])\b", re.IGNORECASE)


@dataclass(slots=True)
class Fitting:
    """A history that is kept within its room. `add` and `fit` cost the same however long it is, until it is full."""

    room: int
    history: list[Turn] = field(default_factory=list)
    tokens: int = 0

    def __post_init__(self) -> None:
        self.tokens = sum(of_turn(turn) for turn in self.history)

    def add(self, turn: Turn) -> None:
        self.history.append(turn)
        self.tokens += of_turn(turn)

    def fit(self) -> str | None:
        """What was left out, in words, if something had to be."""
        if self.tokens <= self.room:
            return None
        failing = _newest_failure(self.history)
        results = characters = 0
        for place in range(max(len(self.history) - NEWEST, 0)):
            if self.tokens <= self.room // 2:
                break
            turn = self.history[place]
            shorter = _shorter(turn, failing)
            if shorter is None:
                continue
            before, after = of_turn(turn), of_turn(shorter)
            results += len(shorter.returns) if isinstance(shorter, ToolTurn) else 0
            characters += 3 * (before - after)
            self.history[place] = shorter
            self.tokens += after - before
        if not characters:
            return None
        return (
            f"The conversation filled the model's window: {results} earlier results, some {characters:,} characters, "
            "are left out of what it is sent. They stay in the task's records."
        )


def fitting_past(past: Sequence[Turn], room: int) -> tuple[list[Turn], int]:
    """The newest of what was said before, within a quarter of the room, and how many turns do not fit."""
    kept: list[Turn] = []
    left = room // 4
    for turn in reversed(past):
        left -= of_turn(turn)
        if left < 0:
            break
        kept.append(turn)
    if kept and isinstance(kept[-1], ModelTurn):
        # An answer without its question is of no use.
        kept.pop()
    return kept[::-1], len(past) - len(kept)


def _shorter(turn: Turn, failing: str | None) -> Turn | None:
    if isinstance(turn, ToolTurn):
        returns = [back if back.id == failing else _stub(back) for back in turn.returns]
        return ToolTurn(returns=returns) if returns != turn.returns else None
    if isinstance(turn, ModelTurn) and turn.kept is None and turn.calls:
        calls = [_without_long_values(call) for call in turn.calls]
        return ModelTurn(text=turn.text, calls=calls) if calls != turn.calls else None
    return None


def _stub(back: ToolReturn) -> ToolReturn:
    if len(back.content) <= _SHORT:
        return back
    note = f"{back.content[:200]}\n[{len(back.content):,} characters, left out to make room; call again if you need it]"
    return back.model_copy(update={"content": note})


def _without_long_values(call: ToolUse) -> ToolUse:
    if all(not isinstance(value, str) or len(value) <= _SHORT for value in call.args.values()):
        return call
    args = {
        name: f"[{len(value):,} characters, left out]" if isinstance(value, str) and len(value) > _SHORT else value
        for name, value in call.args.items()
    }
    return call.model_copy(update={"args": args})


def _newest_failure(history: Sequence[Turn]) -> str | None:
    for turn in reversed(history):
        if isinstance(turn, ToolTurn):
            for back in reversed(turn.returns):
                if back.tool in _CHECKS and (back.status == "error" or _FAILED.search(back.content)):
                    return back.id
    return None
