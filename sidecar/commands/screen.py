"""Where the lines go: a terminal with a live part at its bottom, or plain lines for everybody else."""

import shutil
from collections.abc import Sequence
from typing import IO, Protocol

from sidecar.commands.text import width

_ERASE_ROW = "\r\x1b[2K"
_UP = "\x1b[1A"


class Screen(Protocol):
    live: bool

    @property
    def columns(self) -> int: ...

    def say(self, lines: Sequence[str]) -> None:
        """Lines that stay; what was drawn is gone, and can be drawn again below them."""

    def draw(self, lines: Sequence[str]) -> None:
        """Lines that the next call replaces."""

    def ask(self, question: str) -> None:
        """A question that stays open, with the cursor behind it."""

    def answered(self, *, here: bool) -> None:
        """The question is answered: `here` if a line was typed, else somewhere else."""


class Terminal:
    live = True

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._drawn: Sequence[str] = ()
        self._question = ""

    @property
    def columns(self) -> int:
        return shutil.get_terminal_size().columns

    def say(self, lines: Sequence[str]) -> None:
        if not lines:
            return
        text = "".join(f"{line}\n" for line in lines)
        if self._question:
            self._write(f"\n{text}{self._question}")
        else:
            self._write(self._erased() + text)
            self._drawn = ()

    def draw(self, lines: Sequence[str]) -> None:
        if self._question or (not lines and not self._drawn):
            return
        erased = self._erased()
        # A row that wraps could not be erased; the story is asked to keep to the width, and this makes sure.
        self._drawn = [line for line in lines if width(line) < self.columns]
        self._write(erased + "\n".join(self._drawn))

    def ask(self, question: str) -> None:
        erased = self._erased()
        self._drawn = ()
        self._question = question
        self._write(erased + question)

    def answered(self, *, here: bool) -> None:
        if self._question:
            self._question = ""
            self._write("" if here else "\n")

    def _erased(self) -> str:
        return _ERASE_ROW + (_UP + _ERASE_ROW) * (len(self._drawn) - 1) if self._drawn else ""

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class Plain:
    live = False

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    @property
    def columns(self) -> int:
        return 120

    def say(self, lines: Sequence[str]) -> None:
        if lines:
            self._stream.write("".join(f"{line}\n" for line in lines))
            self._stream.flush()

    def draw(self, lines: Sequence[str]) -> None:
        pass

    def ask(self, question: str) -> None:
        pass

    def answered(self, *, here: bool) -> None:
        pass
