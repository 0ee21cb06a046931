"""When the window fills: what old calls brought is left out, first the oldest, until half of the room is free.

If that is not enough, the oldest calls go as a whole, with their results and with whatever their provider wants back
with them; a note says what was done in them. What the person and the program said (the rules, the request, the plan,
what to mend) stays word for word, and so do the newest turns and the newest check that failed; only where these alone
are more than a small window holds, long results among them are cut. A pure function of the history and of the room that
there was, which is in the log: a resumed task leaves out the same. What is left out can be searched (`archive.py`),
and stays in the task's records.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sidecar.models.port import ModelTurn, ToolReturn, ToolTurn, ToolUse, Turn, UserTurn
from sidecar.work.archive import Archive, about
from sidecar.work.tokens import BYTES_A_TOKEN, of_turn

#: So many of the newest turns stay as they are; in a small window fewer, but never less than the last exchange.
NEWEST = (6, 4, 3)
_SHORT = 400
#: What the note on what was done may take, in characters.
_NOTE = 1_500
_LEFT_OUT = re.compile(r"\[[\d,]+ characters[^\]\n]*left out to make room[^\]\n]*\]$")
_CHECKS = frozenset(("run_tests", "run_command", "get_diagnostics"))
_FAILED = re.compile(r"\b(fail(ed|ures?)?|errors?|exit(ed)?( with)?( code)? [1-9])\b", re.IGNORECASE)


@dataclass(slots=True)
class Fitting:
    """A history that is kept within its room. `add` and `fit` cost the same however long it is, until it is full."""

    #: How many tokens it may have; a server may tell its size only when it is first asked.
    room: Callable[[], int]
    history: list[Turn] = field(default_factory=list)
    tokens: int = 0
    #: How many exchanges are gone, and what was done in them.
    gone: int = 0
    archive: Archive = field(default_factory=Archive)
    _done: list[str] = field(default_factory=list)
    _note: UserTurn | None = None
    #: What its server has shown to be too much, if it ever did.
    _too_much: int | None = None

    def __post_init__(self) -> None:
        self.tokens = sum(of_turn(turn) for turn in self.history)

    def add(self, turn: Turn) -> None:
        self.history.append(turn)
        self.tokens += of_turn(turn)

    @property
    def limit(self) -> int:
        return self.room() if self._too_much is None else min(self.room(), self._too_much * 3 // 4)

    def fit(self, room: int) -> str | None:
        """What was left out, in words, if something had to be."""
        if self.tokens <= room:
            return None
        before, failing = self.tokens, _newest_failure(self.history)
        results = exchanges = 0
        for newest in NEWEST:
            target = room // 2 if newest == NEWEST[0] else room * 3 // 4
            results += self._shorten(newest, target, failing)
            exchanges += self._drop(newest, target, failing)
            if self.tokens <= room:
                break
        results += self._cut(room)
        characters = BYTES_A_TOKEN * (before - self.tokens)
        if characters <= 0:
            return None
        parts = [(results, "earlier result"), (exchanges, "whole exchange")]
        what = " and ".join(f"{number} {noun}{'s' * (number > 1)}" for number, noun in parts if number)
        return (
            f"The conversation filled the model's window: {what}, some {characters:,} characters, are left out of what "
            "it is sent. It can search them, and they stay in the task's records."
        )

    def was_too_much(self) -> None:
        """A server has refused the history as it is now."""
        self._too_much = self.tokens

    def _shorten(self, newest: int, target: int, failing: str | None) -> int:
        """Old results become stubs, long arguments too; how many results."""
        results = 0
        for place in range(max(len(self.history) - newest, 0)):
            if self.tokens <= target:
                break
            turn = self.history[place]
            shorter = _shorter(turn, failing)
            if shorter is None:
                continue
            results += len(shorter.returns) if isinstance(shorter, ToolTurn) else 0
            self._keep(place)
            self.history[place] = shorter
            self.tokens += of_turn(shorter) - of_turn(turn)
        return results

    def _drop(self, newest: int, target: int, failing: str | None) -> int:
        """The oldest exchanges, each a turn with its calls and their results; how many."""
        if self.tokens <= target:
            return 0
        noted = self._without_note()
        kept: list[Turn] = []
        old = max(len(self.history) - newest, 0)
        place, dropped, at = 0, 0, noted
        while place < old:
            turn = self.history[place]
            after = self.history[place + 1] if place + 1 < old else None
            if self.tokens > target and isinstance(after, ToolTurn) and _may_go(turn, after, failing):
                self.archive.add("you said", turn.text if isinstance(turn, ModelTurn) else "")
                self._keep(place)
                self._keep(place + 1)
                self._remember(turn)
                self.tokens -= of_turn(turn) + of_turn(after)
                at = len(kept) if at is None else min(at, len(kept))
                place, dropped = place + 2, dropped + 1
            else:
                kept.append(turn)
                place += 1
        kept += self.history[place:]
        if at is not None:
            self._note = UserTurn(text=self._render_note())
            self.tokens += of_turn(self._note)
            kept.insert(at, self._note)
        self.history[:] = kept
        return dropped

    def _without_note(self) -> int | None:
        """Takes the note on what is gone out, to be written anew; where it stood."""
        at = next((place for place, turn in enumerate(self.history) if turn is self._note), None)
        if at is not None:
            self.tokens -= of_turn(self.history.pop(at))
        return at

    def _cut(self, room: int) -> int:
        """The longest results lose their middle, until all of it fits; how many."""
        cut = 0
        while self.tokens > room:
            longest = max(
                (
                    (len(back.content), place, number)
                    for place, turn in enumerate(self.history)
                    if isinstance(turn, ToolTurn)
                    for number, back in enumerate(turn.returns)
                ),
                default=(0, 0, 0),
            )
            size, place, number = longest
            if size <= 2 * _SHORT:
                break
            self._keep(place)
            turn = self.history[place]
            assert isinstance(turn, ToolTurn)
            most = max(size - BYTES_A_TOKEN * (self.tokens - room) - _SHORT, size // 3, _SHORT)
            returns = list(turn.returns)
            returns[number] = _without_its_middle(returns[number], most)
            shorter = ToolTurn(returns=returns)
            self.history[place] = shorter
            self.tokens += of_turn(shorter) - of_turn(turn)
            cut += 1
        return cut

    def _keep(self, place: int) -> None:
        """What is long in the turn that stands there goes into the archive, unless it is there already."""
        turn = self.history[place]
        if isinstance(turn, ModelTurn):
            for call in turn.calls:
                for name, value in call.args.items():
                    if isinstance(value, str) and len(value) > _SHORT:
                        self.archive.add(f"{about(call)} ({name})", value)
        elif isinstance(turn, ToolTurn):
            before = self.history[place - 1] if place else None
            calls = {call.id: call for call in before.calls} if isinstance(before, ModelTurn) else {}
            for back in turn.returns:
                if not _LEFT_OUT.search(back.content):
                    self.archive.add(about(calls[back.id]) if back.id in calls else back.tool, back.content)

    def _remember(self, turn: Turn) -> None:
        self.gone += 1
        self._done += [about(call) for call in turn.calls] if isinstance(turn, ModelTurn) else []
        self._done = list(dict.fromkeys(self._done))

    def _render_note(self) -> str:
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
            f"[{self.gone} earlier exchanges are left out to make room. You made these calls in them: {done}. `recall` "
            "searches them; look again at what may have changed.]"
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
    return back.model_copy(update={"content": f"{back.content[:200]}\n{_note(len(back.content))}"})


def _without_its_middle(back: ToolReturn, most: int) -> ToolReturn:
    """The beginning and, as errors stand at the end, half as much of the end."""
    end = most // 3
    content = f"{back.content[: most - end]}\n…\n{back.content[len(back.content) - end :]}"
    return back.model_copy(update={"content": f"{content}\n{_note(len(back.content) - most)}"})


def _note(characters: int) -> str:
    return f"[{characters:,} characters, left out to make room; `recall` searches them]"


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
