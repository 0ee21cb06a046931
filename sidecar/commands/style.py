"""Colours, or none: where the output is no terminal, and where the person asked for none."""

import os
import sys
from collections.abc import Mapping
from typing import IO


class Style:
    def __init__(self, *, colour: bool) -> None:
        self._colour = colour

    @property
    def colours(self) -> bool:
        return self._colour

    def bold(self, text: str) -> str:
        return self._in("1", text)

    def dim(self, text: str) -> str:
        return self._in("2", text)

    def red(self, text: str) -> str:
        return self._in("31", text)

    def green(self, text: str) -> str:
        return self._in("32", text)

    def yellow(self, text: str) -> str:
        return self._in("33", text)

    def cyan(self, text: str) -> str:
        return self._in("36", text)

    def status(self, status: str, text: str | None = None) -> str:
        colours = {"completed": self.green, "failed": self.red, "escalated": self.yellow, "waiting": self.yellow}
        colours |= {"running": self.cyan, "cancelling": self.yellow}
        return colours.get(status, self.dim)(status if text is None else text)

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour and text else text


def is_terminal(stream: IO[str] | None = None, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether lines can be drawn over there."""
    return (stream or sys.stdout).isatty() and environ.get("TERM") != "dumb"


def style_for(stream: IO[str] | None = None, environ: Mapping[str, str] = os.environ) -> Style:
    return Style(colour=is_terminal(stream, environ) and not environ.get("NO_COLOR"))
