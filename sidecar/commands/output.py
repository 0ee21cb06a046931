"""Where a watched task goes: a terminal with a live part at its bottom, plain lines, or JSON lines."""

import sys
import time
from collections.abc import Sequence
from typing import IO, Any

from sidecar.client.follow import Seen
from sidecar.commands.render import TaskRenderer
from sidecar.commands.text import is_terminal, output_lines, paragraph, safe, style_for, terminal_columns, width

ERASE_ROW = "\r\x1b[2K"
_UP = "\x1b[1A"
REDRAW_SECONDS = 0.05


class PlainScreen:
    """Lines for a pipe or file; it has no live part and can't ask."""

    live = False
    columns = 120

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def print(self, lines: Sequence[str]) -> None:
        """Print lines permanently, above the live part."""
        if lines:
            self._write("".join(f"{line}\n" for line in lines))

    def draw(self, lines: Sequence[str]) -> None:
        """Replace the live part."""

    def ask(self, question: str) -> None:
        """Show a question, with the cursor behind it."""

    def answered(self, *, here: bool) -> None:
        """Close the question; `here` if a line was typed in this terminal."""

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class TerminalScreen(PlainScreen):
    live = True

    def __init__(self, stream: IO[str]) -> None:
        super().__init__(stream)
        self._drawn: Sequence[str] = ()
        self._question = ""

    @property
    def columns(self) -> int:  # type: ignore[override]
        return terminal_columns()

    def print(self, lines: Sequence[str]) -> None:
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
        # A row that wraps couldn't be erased.
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
        return ERASE_ROW + (_UP + ERASE_ROW) * (len(self._drawn) - 1) if self._drawn else ""


class TaskOutput:
    """Shows a watched task; this base ignores everything an output may leave out."""

    #: Whether it has a live part.
    live = False
    #: Whether it can ask for approvals.
    interactive = False

    def take(self, seen: Seen) -> None:
        raise NotImplementedError

    def notice(self, text: str) -> None:
        raise NotImplementedError

    def tick(self) -> None:
        """Redraw the live part."""

    def starting(self) -> None:
        """Called when a sidecar is being started."""

    def clear(self) -> None:
        """Remove the live part."""

    def approval(self) -> dict[str, Any] | None:
        """The oldest approval that waits for an answer."""
        return None

    def question(self) -> dict[str, Any] | None:
        """The oldest question that waits for an answer."""
        return None

    def ask(self, text: str) -> None: ...

    def answered(self, *, here: bool) -> None: ...


class ScreenOutput(TaskOutput):
    def __init__(self, screen: PlainScreen, renderer: TaskRenderer, *, interactive: bool) -> None:
        self.live = screen.live
        self.interactive = interactive
        self._screen = screen
        self._renderer = renderer
        self._since = time.monotonic()
        self._drawn = 0.0

    def take(self, seen: Seen) -> None:
        if seen.event.get("seq") is not None:
            # The live part shows how long the current action has been running.
            self._since = time.monotonic()
        if not self._screen.live and seen.event["type"] == "delta":
            return
        lines = self._renderer.render(seen.event, seen.connected_at)
        self._screen.print(lines)
        # Don't redraw for every word of a flood of output.
        if lines or time.monotonic() - self._drawn > REDRAW_SECONDS:
            self.tick()

    def notice(self, text: str) -> None:
        self._screen.print(paragraph(text, self._screen.columns if self._screen.live else None, ""))
        self.tick()

    def tick(self) -> None:
        if self._screen.live:
            self._drawn = time.monotonic()
            self._screen.draw(self._renderer.live(time.monotonic() - self._since, self._screen.columns))

    def starting(self) -> None:
        self._screen.draw(["Starting the sidecar …"])

    def clear(self) -> None:
        self._screen.draw([])

    def approval(self) -> dict[str, Any] | None:
        return next(iter(self._renderer.open_approvals.values()), None)

    def question(self) -> dict[str, Any] | None:
        return next(iter(self._renderer.open_questions.values()), None)

    def ask(self, text: str) -> None:
        self._screen.ask(text)

    def answered(self, *, here: bool) -> None:
        self._screen.answered(here=here)


class JsonOutput(TaskOutput):
    def take(self, seen: Seen) -> None:
        sys.stdout.write(seen.data + "\n")
        sys.stdout.flush()

    def notice(self, text: str) -> None:
        print(f"brain: {text}", file=sys.stderr, flush=True)


class AnswerOutput(TaskOutput):
    """Only the answer on standard output, without colours; problems go to standard error."""

    def take(self, seen: Seen) -> None:
        event = seen.event
        if event["type"] == "complete":
            print("\n".join(output_lines(event["result"]["summary"])).rstrip("\n"), flush=True)
        elif event["type"] == "error":
            self.notice(event["message"])
        elif event["type"] == "escalation":
            self.notice("\n".join([event["reason"], *(f"- {each}" for each in event["suggestions"])]))
        elif event["type"] == "verification" and not event["passed"]:
            failed = ", ".join(check["name"] for check in event["checks"] if not check["passed"])
            self.notice(f"A check failed: {failed}")

    def notice(self, text: str) -> None:
        print(f"brain: {safe(text)}", file=sys.stderr, flush=True)


class QuietOutput(AnswerOutput):
    """Nothing on standard output; the caller prints the ended task."""

    def take(self, seen: Seen) -> None:
        if seen.event["type"] != "complete":
            super().take(seen)


def open_output(form: str | None) -> TaskOutput:
    """`form` as in `--output`; without it, for people."""
    if form is not None:
        return {"events": JsonOutput, "json": QuietOutput, "text": AnswerOutput}[form]()
    drawn = is_terminal()
    screen: PlainScreen = TerminalScreen(sys.stdout) if drawn else PlainScreen(sys.stdout)
    renderer = TaskRenderer(style_for(), screen.columns, wrap=drawn)
    return ScreenOutput(screen, renderer, interactive=drawn and sys.stdin.isatty())
