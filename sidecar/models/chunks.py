"""Reads a Chat Completions reply chunk by chunk, as OpenAI, Groq and local servers send it."""

from collections.abc import Iterable, Iterator
from enum import Enum, auto
from typing import Any

from sidecar.models.calls import CallDraft, check_call_count
from sidecar.models.encoding import encode_json
from sidecar.models.errors import Failure, ModelFailed
from sidecar.models.port import Delta
from sidecar.models.prices import Price
from sidecar.models.remote import ReplyText, count_usage
from sidecar.wire.tasks import Usage

_OPEN, _CLOSE = "<think>", "</think>"


class _At(Enum):
    BEGINNING = auto()
    THOUGHT = auto()
    #: Between the thinking and the text.
    GAP = auto()
    WORDS = auto()


class ThinkTagSplitter:
    """Separates `<think>…</think>` at the start of the text from the rest. Holds back partial tags."""

    def __init__(self) -> None:
        self._at = _At.BEGINNING
        self._held = ""

    def feed(self, text: str) -> Iterator[Delta]:
        if self._at is _At.WORDS:
            yield Delta(text)
            return
        self._held += text
        if self._at is _At.BEGINNING:
            self._begin()
        if self._at is _At.THOUGHT:
            yield from self._think()
        if self._at is _At.GAP and (text := self._held.lstrip()):
            self._at, self._held = _At.WORDS, text
        if self._at is _At.WORDS:
            yield from self.rest()

    def rest(self) -> Iterator[Delta]:
        """Release the held-back text: it is not a tag."""
        text, self._held = self._held, ""
        if text:
            yield Delta(text, "thinking" if self._at is _At.THOUGHT else "text")

    def _begin(self) -> None:
        begun = self._held.lstrip()
        if begun.startswith(_OPEN):
            self._at, self._held = _At.THOUGHT, begun.removeprefix(_OPEN)
        elif not _OPEN.startswith(begun):
            self._at = _At.WORDS

    def _think(self) -> Iterator[Delta]:
        thought, closed, text = self._held.partition(_CLOSE)
        if closed:
            self._at, self._held = _At.GAP, text
        else:
            # Hold back a possible start of the closing tag.
            size = next((size for size in range(len(_CLOSE) - 1, 0, -1) if thought.endswith(_CLOSE[:size])), 0)
            thought, self._held = thought[: len(thought) - size], thought[len(thought) - size :]
        if thought:
            yield Delta(thought, "thinking")


#: Estimate for servers that report no usage, so that token limits still work.
_BYTES_PER_TOKEN = 4
#: Field names for thinking.
_THOUGHTS = ("reasoning_content", "reasoning")


class ReplyReader(ReplyText):
    """Accumulates a streamed reply; `sent` is the size of the request in bytes."""

    def __init__(self, sent: int) -> None:
        super().__init__()
        #: The field that carried the thinking, if any.
        self.thoughts: str | None = None
        self.refusal = ""
        self.drafts: list[CallDraft] = []
        self.finish: str | None = None
        self._sent = sent
        self._thoughts = ThinkTagSplitter()
        self._by_place: dict[int | str, CallDraft] = {}
        self._last: int | str = 0
        self._usage: dict[str, Any] = {}

    def take(self, chunk: Any) -> Iterable[Delta]:
        groq = chunk.get("x_groq") or {}
        if groq.get("error"):
            raise ModelFailed(Failure(code="model_unavailable", message=f"groq aborted its reply: {groq['error']}"))
        self._usage = chunk.get("usage") or groq.get("usage") or self._usage
        for choice in (chunk.get("choices") or [])[:1]:
            delta = choice.get("delta") or self._message(choice) or {}
            yield from self._reasoned(delta)
            if content := delta.get("content"):
                yield from self._content(content)
            self.refusal += delta.get("refusal") or ""
            for piece in delta.get("tool_calls") or []:
                self._call(piece)
                yield Delta("")
            self.finish = choice.get("finish_reason") or self.finish
            if self.finish:
                yield from self._say(self._thoughts.rest())

    def _message(self, choice: dict[str, Any]) -> Any:
        """A whole message instead of a delta. Some servers repeat it after streaming; ignore it then."""
        return None if self._text or self._thinking or self.drafts else choice.get("message")

    def _reasoned(self, delta: dict[str, Any]) -> Iterable[Delta]:
        for name in _THOUGHTS:
            thought = delta.get(name)
            if isinstance(thought, str) and thought:
                self.thoughts = name
                self._thinking.append(thought)
                yield Delta(thought, "thinking")
                # Servers that send both fields repeat the text.
                return

    def _content(self, content: Any) -> Iterable[Delta]:
        if isinstance(content, str):
            yield from self._say(self._thoughts.feed(content))
        for part in content if isinstance(content, list) else ():
            # Some servers send a list of parts, with thinking as a nested one.
            if part.get("type") == "thinking":
                thought = "".join(each.get("text") or "" for each in part.get("thinking") or ())
                yield from self._say([Delta(thought, "thinking")])
            elif part.get("type") == "text":
                yield from self._say([Delta(part.get("text") or "")])

    def _say(self, deltas: Iterable[Delta]) -> Iterable[Delta]:
        for delta in deltas:
            if delta.kind == "thinking":
                self._thinking.append(delta.text)
            else:
                self._text.append(delta.text)
            yield delta

    def _call(self, piece: dict[str, Any]) -> None:
        function, index, named = piece.get("function") or {}, piece.get("index"), piece.get("id")
        # Match by index, else by id, else take the last call.
        place = index if index is not None else named or self._last
        draft = self._by_place.get(place)
        if draft is None or _is_another(piece, function, draft):
            check_call_count(self.drafts)
            draft = CallDraft(named or "call")
            self._by_place[place] = draft
            self.drafts.append(draft)
        self._last = place
        name = function.get("name") or ""
        if name != draft.tool and not draft.size:
            draft.tool += name
        arguments = function.get("arguments")
        if arguments:
            draft.add(arguments if isinstance(arguments, str) else encode_json(arguments).decode())

    def usage(self, price: Price | None) -> Usage:
        if not self._usage:
            text = len(self.text) + len(self.thinking) + sum(draft.size for draft in self.drafts)
            return count_usage(price, read=self._sent // _BYTES_PER_TOKEN, written=text // _BYTES_PER_TOKEN, cached=0)
        details = self._usage.get("prompt_tokens_details") or {}
        return count_usage(
            price,
            read=_count(self._usage, "prompt_tokens"),
            written=_count(self._usage, "completion_tokens"),
            cached=_count(details, "cached_tokens"),
            cache_writes=_count(details, "cache_write_tokens"),
        )


def _count(counts: dict[str, Any], name: str) -> int:
    count = counts.get(name)
    return count if isinstance(count, int) else 0


def _is_another(piece: dict[str, Any], function: dict[str, Any], draft: CallDraft) -> bool:
    """Some servers send whole calls that share an index or have none, some without ids."""
    if not function.get("name"):
        return False
    named = piece.get("id")
    return named != draft.id if named else bool(function.get("arguments")) and draft.whole
