"""A reply in the Chat Completions dialect, read chunk by chunk, as OpenAI, Groq and the local servers send it."""

from collections.abc import Iterable
from typing import Any

from sidecar.models.calls import Draft, another
from sidecar.models.errors import Unusable
from sidecar.models.history import encoded
from sidecar.models.port import Delta, Failure
from sidecar.models.prices import Price
from sidecar.models.remote import Words, counted
from sidecar.models.thoughts import Thoughts
from sidecar.wire.tasks import Usage

#: What is assumed where a server does not count: a limit of tokens would else be none.
_BYTES_A_TOKEN = 4
#: The names that servers have for what a model thinks.
_THOUGHTS = ("reasoning_content", "reasoning")


class Reading(Words):
    """What has come of a reply so far; `sent` is how many bytes it is a reply to."""

    def __init__(self, sent: int) -> None:
        super().__init__()
        #: By which name it came, if it came by one.
        self.thoughts: str | None = None
        self.refusal = ""
        self.drafts: list[Draft] = []
        self.finish: str | None = None
        self._sent = sent
        self._thoughts = Thoughts()
        self._by_place: dict[int | str, Draft] = {}
        self._last: int | str = 0
        self._usage: dict[str, Any] = {}

    def take(self, chunk: Any) -> Iterable[Delta]:
        groq = chunk.get("x_groq") or {}
        if groq.get("error"):
            raise Unusable(Failure(code="model_unavailable", message=f"groq broke off its reply: {groq['error']}"))
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
        """What comes as a whole is a message, not a change of one. Some repeat all of it so after they said it."""
        return None if self._said or self._thought or self.drafts else choice.get("message")

    def _reasoned(self, delta: dict[str, Any]) -> Iterable[Delta]:
        for name in _THOUGHTS:
            thought = delta.get(name)
            if isinstance(thought, str) and thought:
                self.thoughts = name
                self._thought.append(thought)
                yield Delta(thought, "thinking")
                # Who sends both says the same in both.
                return

    def _content(self, content: Any) -> Iterable[Delta]:
        if isinstance(content, str):
            yield from self._say(self._thoughts.told_apart(content))
        for part in content if isinstance(content, list) else ():
            # Some send parts, and what was thought as one of them, with parts of its own.
            if part.get("type") == "thinking":
                thought = "".join(each.get("text") or "" for each in part.get("thinking") or ())
                yield from self._say([Delta(thought, "thinking")])
            elif part.get("type") == "text":
                yield from self._say([Delta(part.get("text") or "")])

    def _say(self, deltas: Iterable[Delta]) -> Iterable[Delta]:
        for delta in deltas:
            if delta.kind == "thinking":
                self._thought.append(delta.text)
            else:
                self._said.append(delta.text)
            yield delta

    def _call(self, piece: dict[str, Any]) -> None:
        function, index, named = piece.get("function") or {}, piece.get("index"), piece.get("id")
        # Without an index, by its id; without both, it belongs to the call that came last.
        place = index if index is not None else named or self._last
        draft = self._by_place.get(place)
        if draft is None or _is_another(piece, function, draft):
            another(self.drafts)
            draft = Draft(named or "call")
            self._by_place[place] = draft
            self.drafts.append(draft)
        self._last = place
        name = function.get("name") or ""
        if name != draft.tool and not draft.size:
            draft.tool += name
        arguments = function.get("arguments")
        if arguments:
            draft.add(arguments if isinstance(arguments, str) else encoded(arguments).decode())

    def usage(self, price: Price | None) -> Usage:
        if not self._usage:
            said = len(self.text) + len(self.thinking) + sum(draft.size for draft in self.drafts)
            return counted(price, read=self._sent // _BYTES_A_TOKEN, written=said // _BYTES_A_TOKEN, cached=0)
        details = self._usage.get("prompt_tokens_details") or {}
        return counted(
            price,
            read=_count(self._usage, "prompt_tokens"),
            written=_count(self._usage, "completion_tokens"),
            cached=_count(details, "cached_tokens"),
            cache_writes=_count(details, "cache_write_tokens"),
        )


def _count(counts: dict[str, Any], name: str) -> int:
    count = counts.get(name)
    return count if isinstance(count, int) else 0


def _is_another(piece: dict[str, Any], function: dict[str, Any], draft: Draft) -> bool:
    """Some servers send each call whole, all of them with the same index or with none, and some give no ids either."""
    if not function.get("name"):
        return False
    named = piece.get("id")
    return named != draft.id if named else bool(function.get("arguments")) and draft.whole
