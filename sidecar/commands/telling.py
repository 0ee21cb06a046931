"""The two ways to tell a task: as a story for a person, as JSON lines for a program."""

import sys
import time
from typing import IO, Any, Protocol

from sidecar.commands.follow import Seen
from sidecar.commands.screen import Plain, Screen, Terminal
from sidecar.commands.story import Story
from sidecar.commands.style import is_terminal, style_for
from sidecar.commands.text import paragraph

REDRAW_SECONDS = 0.05


class Telling(Protocol):
    #: Whether it looks different from moment to moment.
    live: bool
    #: Whether the person can be asked.
    asks: bool

    def take(self, seen: Seen) -> None: ...

    def notice(self, text: str) -> None: ...

    def tick(self) -> None: ...

    def starting(self) -> None:
        """A sidecar is being started; the task has nothing to tell yet."""

    def rest(self) -> None:
        """Leaves nothing on the screen but what stays."""

    def question(self) -> dict[str, Any] | None:
        """The approval that waits for an answer, if one does."""

    def ask(self, text: str) -> None: ...

    def answered(self, *, here: bool) -> None: ...


class StoryTelling:
    def __init__(self, screen: Screen, story: Story, *, asks: bool) -> None:
        self.live = screen.live
        self.asks = asks
        self._screen = screen
        self._story = story
        self._since = time.monotonic()
        self._drawn = 0.0

    def take(self, seen: Seen) -> None:
        if seen.event.get("seq") is not None:
            # What is shown as its time is how long the present thing has been going on.
            self._since = time.monotonic()
        if not self._screen.live and seen.event["type"] == "delta":
            return
        lines = self._story.take(seen.event, seen.connected_at)
        self._screen.say(lines)
        # A flood of output is not drawn word by word; who watches sees the last of it soon enough.
        if lines or time.monotonic() - self._drawn > REDRAW_SECONDS:
            self.tick()

    def notice(self, text: str) -> None:
        self._screen.say(paragraph(text, self._screen.columns if self._screen.live else None, ""))
        self.tick()

    def tick(self) -> None:
        if self._screen.live:
            self._drawn = time.monotonic()
            self._screen.draw(self._story.live(time.monotonic() - self._since, self._screen.columns))

    def starting(self) -> None:
        self._screen.draw(["Starting the sidecar …"])

    def rest(self) -> None:
        self._screen.draw([])

    def question(self) -> dict[str, Any] | None:
        return next(iter(self._story.open_questions.values()), None)

    def ask(self, text: str) -> None:
        self._screen.ask(text)

    def answered(self, *, here: bool) -> None:
        self._screen.answered(here=here)


class JsonTelling:
    live = False
    asks = False

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def take(self, seen: Seen) -> None:
        self._stream.write(seen.data + "\n")
        self._stream.flush()

    def notice(self, text: str) -> None:
        print(f"brain: {text}", file=sys.stderr, flush=True)

    def tick(self) -> None:
        pass

    def starting(self) -> None:
        pass

    def rest(self) -> None:
        pass

    def question(self) -> dict[str, Any] | None:
        return None

    def ask(self, text: str) -> None:
        pass

    def answered(self, *, here: bool) -> None:
        pass


def telling(*, json: bool) -> Telling:
    if json:
        return JsonTelling(sys.stdout)
    drawn = is_terminal()
    screen: Screen = Terminal(sys.stdout) if drawn else Plain(sys.stdout)
    return StoryTelling(screen, Story(style_for(), screen.columns, wrap=drawn), asks=drawn and sys.stdin.isatty())
