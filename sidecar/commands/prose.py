"""What the models say: whole lines as soon as they are whole, the rest in the live part, and nothing twice."""

from typing import Any

from sidecar.commands.style import Style
from sidecar.commands.text import paragraph, safe, wrapped

LIVE_ROWS = 8
INDENT = "  "

Event = dict[str, Any]


class Prose:
    def __init__(self, style: Style, columns: int | None) -> None:
        self._style = style
        #: Where prose is wrapped; `None` leaves it to whoever reads it.
        self._columns = columns
        self._message = ""
        #: What has come of the present message, and how much of it stands on the screen for good.
        self._text = ""
        self._said = 0
        self._thinking = ""
        self._in_code = False
        self._whole: set[str] = set()

    def delta(self, event: Event, *, from_its_start: bool) -> list[str]:
        """Whoever came in the middle of a message is told all of it so far; who is not, gets it when it is whole."""
        if event["messageId"] in self._whole:
            # Live words can come after the message that they are a part of, to someone who has just joined.
            return []
        lines: list[str] = []
        if event["messageId"] != self._message:
            lines = self.finish()
            self._message = event["messageId"]
            self._said = 0 if from_its_start or event.get("whole") else -1
        if event.get("kind") == "thinking":
            self._thinking = ("" if event.get("whole") else self._thinking) + event["text"]
            return lines
        self._thinking = ""
        self._text = ("" if event.get("whole") else self._text) + event["text"]
        whole = self._text.rfind("\n") + 1
        if self._said >= 0 and whole > self._said:
            lines += self._say(self._text[self._said : whole - 1])
            self._said = whole
        return lines

    def message(self, event: Event) -> list[str]:
        """The whole text. If what came live was its beginning, only the rest is new."""
        text, said = event["text"], max(self._said, 0)
        if self._message != event["messageId"]:
            lines, said = self.finish(), 0
        elif not text.startswith(self._text[:said]):
            lines, said = [], 0
        else:
            lines = []
        self._forget()
        self._whole.add(event["messageId"])
        rest = text[said:].rstrip("\n")
        return [*lines, *self._say(rest)] if rest else lines

    def finish(self) -> list[str]:
        """What came live and was never followed by the whole text."""
        rest = self._text[max(self._said, 0) :].rstrip("\n")
        self._forget()
        return self._say(rest) if rest.strip() else []

    def live(self, columns: int) -> list[str]:
        text, paint = (self._thinking, self._style.dim) if self._thinking else (self._text[max(self._said, 0) :], str)
        lines = safe(text).split("\n")[-LIVE_ROWS:]
        rows = [row for line in lines for row in wrapped(line, columns - len(INDENT) - 1)]
        return [paint(INDENT + row) for row in rows[-LIVE_ROWS:]] if text.strip() else []

    def _say(self, text: str) -> list[str]:
        lines = []
        for line in safe(text).split("\n"):
            if line.lstrip().startswith("```"):
                self._in_code = not self._in_code
            as_it_is = self._in_code or line.startswith("    ")
            lines += paragraph(line, None if as_it_is else self._columns, INDENT)
        return lines

    def _forget(self) -> None:
        self._message, self._text, self._said, self._thinking = "", "", 0, ""
