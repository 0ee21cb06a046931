"""Keeps a conversation within the model's context window.

When the window fills, old tool results become stubs, oldest first, until half of the room is free. If that isn't
enough, the oldest exchanges go as a whole, and a note lists their calls. Your messages, the rules, the request and the
plan stay word for word, and so do the newest turns and the newest failed check. Only in a small window, long results
among those lose their middle.

This is a pure function of the history and of the recorded room, so a resumed task leaves out the same. The agent can
search what was left out (`archive.py`), and the task's records keep it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sidecar.models.port import Model, ModelTurn, ToolReturn, ToolTurn, ToolUse, Turn, UserTurn
from sidecar.wire.text import plural
from sidecar.work.archive import Archive, describe_call

#: This many of the newest turns stay as they are; fewer in a small window, but always the last exchange.
NEWEST = (6, 4, 3)
#: Results and arguments up to this many characters stay.
_SHORT = 400
_NOTE_CHARACTERS = 1_500

BYTES_PER_TOKEN = 3
#: For a model that doesn't report its window.
_DEFAULT_WINDOW = 128_000
#: The history may fill this share of the window; the rest is for the reply, the tools and estimation errors.
_HISTORY_SHARE = 0.7
#: In a small window, prompt and tools take more than that rest; the history gets what they leave.
_SHARE_WITH_TOOLS, _MIN_SHARE = 0.9, 0.25


def estimate_tokens(text: str) -> int:
    """A rough upper estimate without a tokenizer."""
    # Code has about 3.5 bytes a token; other scripts have fewer characters a token, but more bytes.
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return size // BYTES_PER_TOKEN + 4


def turn_tokens(turn: Turn) -> int:
    if isinstance(turn, ToolTurn):
        return sum(estimate_tokens(back.content) + 8 for back in turn.returns)
    if isinstance(turn, ModelTurn):
        calls = sum(len(str(call.args)) // BYTES_PER_TOKEN + 12 for call in turn.calls)
        kept = sum(len(str(part)) // BYTES_PER_TOKEN for part in turn.kept.content) if turn.kept else 0
        return max(estimate_tokens(turn.text) + calls, kept)
    return estimate_tokens(turn.text) + 1_600 * len(turn.images)


def history_limit(model: Model, overhead: int = 0) -> int:
    """Tokens of history for one request, if prompt and tools take `overhead` tokens."""
    window = model.capabilities.context_tokens or _DEFAULT_WINDOW
    return int(min(window * _HISTORY_SHARE, max(window * _SHARE_WITH_TOOLS - overhead, window * _MIN_SHARE)))


@dataclass(slots=True)
class Conversation:
    """A history within its room. Until it is full, `add` and `fit` take constant time."""

    #: The limit in tokens; a server may report its window only after the first request.
    room: Callable[[], int]
    history: list[Turn] = field(default_factory=list)
    tokens: int = 0
    #: The number of dropped exchanges.
    dropped: int = 0
    archive: Archive = field(default_factory=Archive)
    _dropped_calls: list[str] = field(default_factory=list)
    _note: UserTurn | None = None
    #: A size that the server refused.
    _overflow: int | None = None
    #: Shortened results by identity; the archive already has the whole ones.
    _stubs: dict[int, ToolReturn] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tokens = sum(turn_tokens(turn) for turn in self.history)

    def add(self, turn: Turn) -> None:
        self.history.append(turn)
        self.tokens += turn_tokens(turn)

    @property
    def limit(self) -> int:
        return self.room() if self._overflow is None else min(self.room(), self._overflow * 3 // 4)

    def mark_overflow(self) -> None:
        """The server refused the history at its present size."""
        self._overflow = self.tokens

    def fit(self, room: int) -> str | None:
        """Leaves out what it must, and returns a description of that."""
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
        characters = BYTES_PER_TOKEN * (before - self.tokens)
        if characters <= 0:
            return None
        parts = [(results, "earlier result"), (exchanges, "whole exchange")]
        what = " and ".join(plural(number, noun) for number, noun in parts if number)
        return (
            f"The conversation filled the model's context window, so {what} (about {characters:,} characters) are left "
            "out of the request. The agent can search them, and the task's records keep them."
        )

    def _shorten(self, newest: int, target: int, failing: ToolReturn | None) -> int:
        """Replaces old results and long arguments by stubs; returns the number of results."""
        results = 0
        for place in range(max(len(self.history) - newest, 0)):
            if self.tokens <= target:
                break
            turn = self.history[place]
            shorter = self._shorter(turn, failing)
            if shorter is None:
                continue
            results += len(shorter.returns) if isinstance(shorter, ToolTurn) else 0
            self._archive(place)
            self._replace(place, shorter)
        return results

    def _drop(self, newest: int, target: int, failing: ToolReturn | None) -> int:
        """Drops the oldest exchanges, each a turn with calls and their results; returns the number."""
        if self.tokens <= target:
            return 0
        note_place = self._remove_note()
        kept: list[Turn] = []
        old = max(len(self.history) - newest, 0)
        place, dropped = 0, 0
        while place < old:
            turn = self.history[place]
            after = self.history[place + 1] if place + 1 < old else None
            if self.tokens > target and isinstance(after, ToolTurn) and _may_drop(turn, after, failing):
                self.archive.add("you said", turn.text if isinstance(turn, ModelTurn) else "")
                self._archive(place)
                self._archive(place + 1)
                self._count_dropped(turn)
                self.tokens -= turn_tokens(turn) + turn_tokens(after)
                note_place = len(kept) if note_place is None else min(note_place, len(kept))
                place, dropped = place + 2, dropped + 1
            else:
                kept.append(turn)
                place += 1
        kept += self.history[place:]
        if note_place is not None:
            self._note = UserTurn(text=self._render_note())
            self.tokens += turn_tokens(self._note)
            kept.insert(note_place, self._note)
        self.history[:] = kept
        return dropped

    def _remove_note(self) -> int | None:
        """Removes the note about dropped exchanges, to be written anew; returns its place."""
        place = next((place for place, turn in enumerate(self.history) if turn is self._note), None)
        if place is not None:
            self.tokens -= turn_tokens(self.history.pop(place))
        return place

    def _cut(self, room: int) -> int:
        """Cuts the middle out of the longest results until everything fits; returns the number."""
        cut = 0
        while self.tokens > room:
            size, place, number = max(
                (
                    (len(back.content), place, number)
                    for place, turn in enumerate(self.history)
                    if isinstance(turn, ToolTurn)
                    for number, back in enumerate(turn.returns)
                ),
                default=(0, 0, 0),
            )
            if size <= 2 * _SHORT:
                break
            self._archive(place)
            turn = self.history[place]
            assert isinstance(turn, ToolTurn)
            limit = max(size - BYTES_PER_TOKEN * (self.tokens - room) - _SHORT, size // 3, _SHORT)
            returns = list(turn.returns)
            returns[number] = self._stub(returns[number], _cut_middle(returns[number].content, limit))
            self._replace(place, ToolTurn.model_construct(returns=returns))
            cut += 1
        return cut

    def _replace(self, place: int, turn: Turn) -> None:
        self.tokens += turn_tokens(turn) - turn_tokens(self.history[place])
        self.history[place] = turn

    def _shorter(self, turn: Turn, failing: ToolReturn | None) -> Turn | None:
        if isinstance(turn, ToolTurn):
            returns = [
                back if back is failing or len(back.content) <= _SHORT else self._stub(back, _head(back.content))
                for back in turn.returns
            ]
            return ToolTurn.model_construct(returns=returns) if returns != turn.returns else None
        if isinstance(turn, ModelTurn) and turn.kept is None and turn.calls:
            calls = [_without_long_values(call) for call in turn.calls]
            return ModelTurn(text=turn.text, calls=calls) if calls != turn.calls else None
        return None

    def _stub(self, back: ToolReturn, content: str) -> ToolReturn:
        stub = back.model_copy(update={"content": content})
        self._stubs[id(stub)] = stub
        return stub

    def _archive(self, place: int) -> None:
        """Archives the long parts of a turn that aren't archived yet."""
        turn = self.history[place]
        if isinstance(turn, ModelTurn):
            for call in turn.calls:
                for name, value in call.args.items():
                    if isinstance(value, str) and len(value) > _SHORT:
                        self.archive.add(f"{describe_call(call)} ({name})", value)
        elif isinstance(turn, ToolTurn):
            before = self.history[place - 1] if place else None
            calls = {call.id: call for call in before.calls} if isinstance(before, ModelTurn) else {}
            for back in turn.returns:
                if id(back) not in self._stubs:
                    self.archive.add(describe_call(calls[back.id]) if back.id in calls else back.tool, back.content)

    def _count_dropped(self, turn: Turn) -> None:
        self.dropped += 1
        self._dropped_calls += [describe_call(call) for call in turn.calls] if isinstance(turn, ModelTurn) else []
        self._dropped_calls = list(dict.fromkeys(self._dropped_calls))

    def _render_note(self) -> str:
        """Lists the dropped calls; if there are too many, the newest ones."""
        listed: list[str] = []
        left = _NOTE_CHARACTERS
        for call in reversed(self._dropped_calls):
            left -= len(call) + 2
            if left < 0:
                listed.append("…")
                break
            listed.append(call)
        calls = "; ".join(reversed(listed))
        return (
            f"[{self.dropped} earlier exchanges are left out to make room. You made these calls in them: {calls}. "
            "`recall` searches them; look again at what may have changed.]"
        )


def _may_drop(turn: Turn, after: ToolTurn, failing: ToolReturn | None) -> bool:
    called = isinstance(turn, ModelTurn) and bool(turn.calls)
    return called and all(back is not failing for back in after.returns)


def _head(content: str) -> str:
    return f"{content[:200]}\n{_left_out(len(content))}"


def _cut_middle(content: str, limit: int) -> str:
    """Keeps the beginning and half as much of the end, where errors usually are."""
    end = limit // 3
    kept = f"{content[: limit - end]}\n…\n{content[len(content) - end :]}"
    return f"{kept}\n{_left_out(len(content) - limit)}"


def _left_out(characters: int) -> str:
    return f"[{characters:,} characters left out to make room; `recall` searches them]"


def _without_long_values(call: ToolUse) -> ToolUse:
    if all(not isinstance(value, str) or len(value) <= _SHORT for value in call.args.values()):
        return call
    args = {
        name: f"[{len(value):,} characters left out]" if isinstance(value, str) and len(value) > _SHORT else value
        for name, value in call.args.items()
    }
    return call.model_copy(update={"args": args})


def _newest_failure(history: Sequence[Turn]) -> ToolReturn | None:
    """The newest failed command, test run or diagnosis."""
    for turn in reversed(history):
        if isinstance(turn, ToolTurn):
            for back in reversed(turn.returns):
                if _is_failed_check(back):
                    return back
    return None


def _is_failed_check(back: ToolReturn) -> bool:
    match back.tool:
        case "run_tests" | "run_command":
            return back.status == "error" or bool(back.details.get("exitCode"))
        case "get_diagnostics":
            return back.status == "error" or bool(back.details.get("diagnostics"))
    return False
