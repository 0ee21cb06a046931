"""The prompt at the bottom of the terminal. It stays there while lines appear above it."""

import asyncio
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, ThreadedCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.filters import has_completions, is_searching
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.styles import Style

from sidecar.commands.session.answers import AnswerGate
from sidecar.commands.text import safe_line

HISTORY_BYTES = 262_144
#: How long Esc waits for a key that would make it another key.
ESCAPE_SECONDS = 0.3


class PromptLine:
    """`live` returns the lines above the prompt that change, `status` the line below it."""

    def __init__(
        self,
        on_line: Callable[[str], None],
        on_stop: Callable[[], None],
        on_details: Callable[[], None],
        gate: AnswerGate,
        completer: Completer,
        history: Path,
        live: Callable[[int], Sequence[str]],
        status: Callable[[], str],
    ) -> None:
        self._on_line, self._on_stop, self._on_details = on_line, on_stop, on_details
        self._gate = gate
        self._live = live
        self._question = ""
        self._session: PromptSession[str] = PromptSession(
            self._message,
            history=open_history(history),
            completer=ThreadedCompleter(completer),
            complete_while_typing=True,
            multiline=True,
            prompt_continuation="  ",
            bottom_toolbar=lambda: ANSI(status()),
            key_bindings=self._keys(),
            style=Style.from_dict({"bottom-toolbar": "noreverse"}),
            reserve_space_for_menu=6,
        )
        self._session.app.timeoutlen = ESCAPE_SECONDS
        self._session.app.ttimeoutlen = 0.05
        self._buffer.on_text_changed += self._typed
        self._lock = asyncio.Lock()

    @property
    def _buffer(self) -> Buffer:
        return self._session.default_buffer

    async def run(self) -> None:
        await self._session.prompt_async()

    def exit(self) -> None:
        if self._session.app.is_running:
            self._session.app.exit(result="")

    def ask(self, question: str) -> None:
        """Change the words before the line."""
        self._question = question
        self.redraw()

    async def print(self, lines: Sequence[str]) -> None:
        """Print lines permanently, above the prompt."""
        text = "".join(f"{line}\r\n" for line in lines)
        app = self._session.app
        async with self._lock:
            # Not `run_in_terminal`: it leaves raw mode, and a Ctrl-C or Ctrl-D at that moment would go to the terminal.
            if app.is_running:
                app.renderer.erase()
            sys.stdout.write(text)
            sys.stdout.flush()
            if app.is_running:
                app.renderer.reset()
                app._request_absolute_cursor_position()
                app._redraw()

    async def run_program(self, act: Callable[[], object]) -> None:
        """Give the terminal to a program of yours until it ends."""
        async with self._lock:
            await run_in_terminal(act)

    def redraw(self) -> None:
        self._session.app.invalidate()

    def _message(self) -> ANSI:
        columns = self._session.app.output.get_size().columns
        return ANSI("\n".join([*self._live(columns), f"{self._question or '›'} "]))

    def _typed(self, buffer: Buffer) -> None:
        self._gate.key(time.monotonic(), empty=not buffer.text)

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("enter", filter=~is_searching)
        def submit(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if (completion := unfinished_word(buffer)) is not None:
                buffer.apply_completion(completion)
                return
            text = buffer.text
            if text.strip() and not self._question:
                buffer.append_to_history()
            self._on_line(text)
            buffer.reset()

        @keys.add("escape", "enter")
        def new_line(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add("escape", filter=has_completions)
        def close_menu(event: KeyPressEvent) -> None:
            event.current_buffer.cancel_completion()

        @keys.add("escape", filter=~has_completions & ~is_searching)
        def stop(event: KeyPressEvent) -> None:
            self._on_stop()

        @keys.add("c-c", filter=~is_searching)
        def clear_or_stop(event: KeyPressEvent) -> None:
            if event.current_buffer.text:
                event.current_buffer.reset()
            else:
                self._on_stop()

        @keys.add("c-o")
        def details(event: KeyPressEvent) -> None:
            self._on_details()

        return keys


def unfinished_word(buffer: Buffer) -> Completion | None:
    """The first completion of a `/` command that isn't typed to its end; Enter would send it as a task."""
    menu = buffer.complete_state
    if menu is None or menu.current_completion is not None or not buffer.text.startswith("/"):
        return None
    texts = [each.text.strip() for each in menu.completions]
    return None if not texts or buffer.text.strip() in texts else menu.completions[0]


def open_history(path: Path) -> FileHistory:
    """What you typed in earlier sessions, in a private file of limited size."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with os.fdopen(descriptor, "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        if size > HISTORY_BYTES:
            file.seek(size - HISTORY_BYTES // 2)
            kept = file.read()
            # An entry begins with an empty line and its time.
            file.seek(0)
            file.truncate()
            file.write(kept[kept.find(b"\n# ") :] if b"\n# " in kept else b"")
    return FileHistory(str(path))


_AT = re.compile(r"(?:^|\s)@([^\s@]*)$")
_SHOWN = 20


class SessionCompleter(Completer):
    """`find_files` gets a part of a path and returns paths; it may be slow, so this runs in a thread."""

    def __init__(self, commands: Mapping[str, str], find_files: Callable[[str], Sequence[str]]) -> None:
        self._commands = commands
        self._find_files = find_files

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        text = document.text_before_cursor
        if text.startswith("/") and not re.search(r"\s", text):
            for name, hint in self._commands.items():
                if name.startswith(text[1:]):
                    yield Completion(f"/{name} ", -len(text), display=f"/{name}", display_meta=hint)
        elif (found := _AT.search(text)) is not None:
            for path in self._find_files(found[1])[:_SHOWN]:
                # A file's name may hold anything; one that could drive the terminal isn't offered.
                if safe_line(path) == path:
                    yield Completion(f"@{path} ", -len(found[1]) - 1, display=path)
