"""What the models say: whole lines as soon as they are whole, the rest in the live part, and nothing twice."""

from typing import Any

from sidecar.commands.emphasis import emphasised
from sidecar.commands.retelling import STRUCTURED, retold
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
        #: What has come of the present message, and what of it is on the screen for good; none if it waits for its end.
        self._text = ""
        self._said: str | None = ""
        self._thinking = ""
        self._structured = False
        self._in_code = False
        self._whole: set[str] = set()
        #: What was told of messages that others interrupted, until the whole of each comes.
        self._cut: dict[str, str] = {}

    def delta(self, event: Event, *, from_its_start: bool) -> list[str]:
        """Whoever came in the middle of a message is told all of it so far; who is not, gets it when it is whole."""
        if event["messageId"] in self._whole:
            # Live words can come after the message that they are a part of, to someone who has just joined.
            return []
        lines: list[str] = []
        if event["messageId"] != self._message:
            lines = self.finish()
            self._message = event["messageId"]
            self._structured = event.get("agent") in STRUCTURED
            at_once = not self._structured and (from_its_start or event.get("whole"))
            self._said = "" if at_once else None
        if event.get("kind") == "thinking":
            self._thinking = ("" if event.get("whole") else self._thinking) + event["text"]
            return lines
        self._thinking = ""
        self._text = ("" if event.get("whole") else self._text) + event["text"]
        whole = self._text.rfind("\n") + 1
        if self._said is None:
            return lines
        if not self._said.startswith(self._text) and not self._text.startswith(self._said):
            # It was asked again, and begins differently.
            self._said, self._in_code = "", False
        if whole > len(self._said):
            lines += self._say(self._text[len(self._said) : whole - 1])
            self._said = self._text[:whole]
        return lines

    def message(self, event: Event) -> list[str]:
        """The whole text. If what came live was its beginning, only the rest is new."""
        text, followed = event["text"], self._message == event["messageId"]
        said = (self._said if followed else self._cut.pop(event["messageId"], "")) or ""
        said = said if text.startswith(said) else ""
        lines = [] if followed else self.finish()
        self._forget()
        self._whole.add(event["messageId"])
        rest = (retold(text) if event.get("agent") in STRUCTURED else text[len(said) :]).rstrip("\n")
        return [*lines, *self._say(rest)] if rest else lines

    def finish(self) -> list[str]:
        """What came live and was not followed by the whole text."""
        # A call may end between the live words of a verdict and the verdict: half of its JSON tells nobody much.
        rest = "" if self._structured else self._unsaid.rstrip("\n")
        if self._message and (self._said is not None or rest.strip()):
            self._cut[self._message] = self._text
        self._forget()
        return self._say(rest) if rest.strip() else []

    def live(self, columns: int) -> list[str]:
        text, paint = (self._thinking, self._style.dim) if self._thinking else (self._unsaid, str)
        lines = safe(text).split("\n")[-LIVE_ROWS:]
        rows = [row for line in lines for row in wrapped(line, columns - len(INDENT) - 1)]
        return [paint(INDENT + row) for row in rows[-LIVE_ROWS:]] if text.strip() else []

    def _say(self, text: str) -> list[str]:
        lines = []
        for line in safe(text).split("\n"):
            if line.lstrip().startswith("```"):
                self._in_code = not self._in_code
            as_it_is = self._in_code or line.startswith("    ")
            rows = paragraph(line, None if as_it_is else self._columns, INDENT)
            lines += rows if as_it_is else [emphasised(row, self._style) for row in rows]
        return lines

    @property
    def _unsaid(self) -> str:
        return self._text[len(self._said or "") :]

    def _forget(self) -> None:
        self._message, self._text, self._said, self._thinking = "", "", "", ""
