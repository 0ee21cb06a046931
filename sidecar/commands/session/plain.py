"""The prompt of a terminal that can't redraw (TERM=dumb): lines in, lines out."""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Sequence

from sidecar.commands.session.answers import AnswerGate
from sidecar.commands.watch import discard_typed


class PlainPrompt:
    """`busy` says whether a task runs; only without one is the prompt shown again after what was printed."""

    def __init__(self, on_line: Callable[[str], None], gate: AnswerGate, busy: Callable[[], bool]) -> None:
        self._on_line = on_line
        self._busy = busy
        self._gate = gate
        self._done = asyncio.Event()
        self._question = ""

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_reader(sys.stdin.fileno(), self._read)
        self._write("> ")
        try:
            await self._done.wait()
        finally:
            loop.remove_reader(sys.stdin.fileno())

    def exit(self) -> None:
        self._done.set()

    def ask(self, question: str) -> None:
        """Change the words before the line."""
        if question != self._question:
            self._question = question
            if question:
                discard_typed()
                self._write(f"{question} ")

    async def print(self, lines: Sequence[str]) -> None:
        prompt = "" if self._question or self._busy() else "> "
        self._write("".join(f"{line}\n" for line in lines) + prompt)

    async def run_program(self, act: Callable[[], object]) -> None:
        act()

    def redraw(self) -> None:
        pass

    def _read(self) -> None:
        data = os.read(sys.stdin.fileno(), 65_536)
        if not data:
            self._done.set()
        for line in data.decode(errors="replace").splitlines():
            self._gate.key(time.monotonic(), empty=not line)
            self._on_line(line)

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
