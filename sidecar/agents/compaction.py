"""When the window fills: what old calls brought is left out, first the oldest, until half of the room is free.

If that is not enough, the oldest calls go as a whole, with their results and with whatever their provider wants back
with them; a note says what was done in them. What the person and the program said (the rules, the request, the plan,
what to mend) stays word for word, and so do the newest turns and the newest check that failed. A pure function of the
history: a resumed task leaves out the same. What is left out is in the task's records, and can be read again.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from sidecar.agents.tokens import of_turn
from sidecar.models.port import ModelTurn, ToolReturn, ToolTurn, ToolUse, Turn, UserTurn

#: So many of the newest turns stay as they are.
NEWEST = 6
_SHORT = 400
#: What the note on what was done may take, in characters.
_NOTE = 1_500
#: Which argument of a call says what it was about.
_ABOUT = ("path", "command", "query", "pattern", "paths", "target", "ref", "message", "from", "patch")
_CHECKS = frozenset(("run_tests", "run_command", "get_diagnostics"))
_FAILED = re.compile(r"\b(fail(ed|ures?)?|errors?|exit(ed)?( with)?( code)? [1-9])\b", re.IGNORECASE)


@dataclass(slots=True)
class Fitting:
    """A history that is kept within its room. `add` and `fit` cost the same however long it is, until it is full."""

    room: int
    history: list[Turn] = field(default_factory=list)
    tokens: int = 0
    #: How many exchanges are gone, and what was done in them.
    gone: int = 0
    _done: list[str] = field(default_factory=list)
    _note: UserTurn | None = None

    def __post_init__(self) -> None:
        self.tokens = sum(of_turn(turn) for turn in self.history)

    def add(self, turn: Turn) -> None:
        self.history.append(turn)
        self.tokens += of_turn(turn)

    def fit(self) -> str | None:
        """What was left out, in words, if something had to be."""
        if self.tokens <= self.room:
            return None
        before, failing = self.tokens, _newest_failure(self.history)
        results = self._shorten(failing)
        exchanges = self._drop(failing) if self.tokens > self.room // 2 else 0
        characters = 3 * (before - self.tokens)
        if characters <= 0:
            return None
        what = f"{results} earlier results" + (f" and {exchanges} whole exchanges" if exchanges else "")
        return (
            f"The conversation filled the model's window: {what}, some {characters:,} characters, are left out of what "
            "it is sent. They stay in the task's records."
        )

    def _shorten(self, failing: str | None) -> int:
        """Old results become stubs, long arguments too; how many results."""
        results = 0
        for place in range(max(len(self.history) - NEWEST, 0)):
            if self.tokens <= self.room // 2:
                break
            turn = self.history[place]
            shorter = _shorter(turn, failing)
            if shorter is None:
                continue
            results += len(shorter.returns) if isinstance(shorter, ToolTurn) else 0
            self.history[place] = shorter
            self.tokens += of_turn(shorter) - of_turn(turn)
        return results

    def _drop(self, failing: str | None) -> int:
        """The oldest exchanges, each a turn with its calls and their results; how many."""
        kept: list[Turn] = []
        old = max(len(self.history) - NEWEST, 0)
        place, dropped, at = 0, 0, None
        while place < old:
            turn = self.history[place]
            after = self.history[place + 1] if place + 1 < len(self.history) else None
            if turn is self._note:
                self.tokens -= of_turn(turn)
                at, place = len(kept), place + 1
            elif self.tokens > self.room // 2 and isinstance(after, ToolTurn) and _may_go(turn, after, failing):
                self._remember(turn)
                self.tokens -= of_turn(turn) + of_turn(after)
                at = len(kept) if at is None else at
                place, dropped = place + 2, dropped + 1
            else:
                kept.append(turn)
                place += 1
        kept += self.history[place:]
        if at is not None:
            self._note = UserTurn(text=self._told())
            self.tokens += of_turn(self._note)
            kept.insert(at, self._note)
        self.history[:] = kept
        return dropped

    def _remember(self, turn: Turn) -> None:
        self.gone += 1
        for call in turn.calls if isinstance(turn, ModelTurn) else ():
            about = next((str(call.args[name]) for name in _ABOUT if call.args.get(name)), "")
            self._done.append(f"{call.tool} {about[:80]}".rstrip())
        self._done = list(dict.fromkeys(self._done))

    def _told(self) -> str:
        """What was done last is said first to stay, if not all of it can."""
        said: list[str] = []
        left = _NOTE
        for each in reversed(self._done):
            left -= len(each) + 2
            if left < 0:
                said.append("…")
                break
            said.append(each)
        done = "; ".join(reversed(said))
        return (
            f"[{self.gone} earlier exchanges are left out to make room. You made these calls in them: {done}. Look "
            "again at what you need.]"
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


def _may_go(turn: Turn, after: ToolTurn, failing: str | None) -> bool:
    called = isinstance(turn, ModelTurn) and bool(turn.calls)
    return called and all(back.id != failing for back in after.returns)


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
