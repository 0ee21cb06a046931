"""What a model thinks, where its server leaves it in the text: `<think>…</think>` before the first word."""

from collections.abc import Iterator
from enum import Enum, auto

from sidecar.models.port import Delta

_OPEN, _CLOSE = "<think>", "</think>"


class _At(Enum):
    BEGINNING = auto()
    THOUGHT = auto()
    #: Behind the thought, before the first word.
    GAP = auto()
    WORDS = auto()


class Thoughts:
    """Tells the two apart as they come. A tag may come in pieces; only what might be one is held back."""

    def __init__(self) -> None:
        self._at = _At.BEGINNING
        self._held = ""

    def told_apart(self, text: str) -> Iterator[Delta]:
        if self._at is _At.WORDS:
            yield Delta(text)
            return
        self._held += text
        if self._at is _At.BEGINNING:
            self._begin()
        if self._at is _At.THOUGHT:
            yield from self._think()
        if self._at is _At.GAP and (said := self._held.lstrip()):
            self._at, self._held = _At.WORDS, said
        if self._at is _At.WORDS:
            yield from self.rest()

    def rest(self) -> Iterator[Delta]:
        """What was held back, and is no tag after all."""
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
        thought, closed, said = self._held.partition(_CLOSE)
        if closed:
            self._at, self._held = _At.GAP, said
        else:
            # The tag may have begun.
            size = next((size for size in range(len(_CLOSE) - 1, 0, -1) if thought.endswith(_CLOSE[:size])), 0)
            thought, self._held = thought[: len(thought) - size], thought[len(thought) - size :]
        if thought:
            yield Delta(thought, "thinking")
