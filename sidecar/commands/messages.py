"""Renders what models write: complete lines at once, the rest in the live part, and nothing twice."""

from typing import Any

from sidecar.client.prose import STRUCTURED, without_json
from sidecar.commands.markdown import emphasize_rows, hanging, is_fence, is_row, render_table
from sidecar.commands.text import (
    Style,
    clip,
    duration,
    format_arguments,
    output_lines,
    paragraph,
    safe,
    safe_line,
    wrap,
)

LIVE_ROWS = 8
INDENT = "  "

Event = dict[str, Any]


class MessageRenderer:
    def __init__(self, style: Style, columns: int | None) -> None:
        self._style = style
        #: Where prose wraps; `None` leaves lines as they are.
        self.columns = columns
        self._message = ""
        #: The current message so far, and the part already printed; `None` while it waits for its end.
        self._text = ""
        self._printed: str | None = ""
        self._thinking = ""
        self._structured = False
        self._in_code = False
        #: Rows of a table that hasn't ended.
        self._table: list[str] = []
        self._complete: set[str] = set()
        #: What was printed of interrupted messages, until each is complete.
        self._interrupted: dict[str, str] = {}

    def delta(self, event: Event, *, from_its_start: bool) -> list[str]:
        """Lines that are now complete. A message that was joined in the middle waits for its end."""
        if event["messageId"] in self._complete:
            # For a reader that just joined, deltas can follow the message they belong to.
            return []
        lines: list[str] = []
        if event["messageId"] != self._message:
            lines = self.finish()
            self._message = event["messageId"]
            self._structured = event.get("agent") in STRUCTURED
            immediately = not self._structured and (from_its_start or event.get("whole"))
            self._printed = "" if immediately else None
        if event.get("kind") == "thinking":
            self._thinking = ("" if event.get("whole") else self._thinking) + event["text"]
            return lines
        self._thinking = ""
        self._text = ("" if event.get("whole") else self._text) + event["text"]
        whole = self._text.rfind("\n") + 1
        if self._printed is None:
            return lines
        if not self._printed.startswith(self._text) and not self._text.startswith(self._printed):
            # The model was asked again and answers differently.
            self._printed, self._in_code, self._table = "", False, []
        if whole > len(self._printed):
            lines += self._format(self._text[len(self._printed) : whole - 1])
            self._printed = self._text[:whole]
        return lines

    def message(self, event: Event) -> list[str]:
        """The rest of a complete message, after what was printed live."""
        text, streamed = event["text"], self._message == event["messageId"]
        printed = (self._printed if streamed else self._interrupted.pop(event["messageId"], "")) or ""
        printed = printed if text.startswith(printed) else ""
        lines = [] if streamed else self.finish()
        self._reset()
        self._complete.add(event["messageId"])
        rest = (without_json(text) if event.get("agent") in STRUCTURED else text[len(printed) :]).rstrip("\n")
        return [*lines, *(self._format(rest) if rest else []), *self._end_table()]

    def finish(self) -> list[str]:
        """What was streamed but not followed by its complete message."""
        # Half of a verdict's JSON is useless.
        rest = "" if self._structured else self._unprinted.rstrip("\n")
        if self._message and (self._printed is not None or rest.strip()):
            self._interrupted[self._message] = self._text
        self._reset()
        return [*(self._format(rest) if rest.strip() else []), *self._end_table()]

    def live(self, columns: int) -> list[str]:
        text, paint = (self._thinking, self._style.dim) if self._thinking else (self._unprinted, str)
        lines = [*self._table, *safe(text).split("\n")][-LIVE_ROWS:]
        rows = [row for line in lines for row in wrap(line, columns - len(INDENT) - 1)]
        return [paint(INDENT + row) for row in rows[-LIVE_ROWS:]] if text.strip() else []

    def _format(self, text: str) -> list[str]:
        lines = []
        for line in safe(text).split("\n"):
            if is_row(line) and not self._in_code:
                self._table.append(line)
                continue
            lines += self._end_table()
            if is_fence(line):
                self._in_code = not self._in_code
                lines.append(self._style.dim(f"{INDENT}{line}"))
                continue
            verbatim = self._in_code or line.startswith("    ")
            if verbatim:
                lines += paragraph(line, None, INDENT)
                continue
            rows = paragraph(line, self.columns, INDENT + hanging(line), first=INDENT)
            lines += emphasize_rows(rows, self._style)
        return lines

    def _end_table(self) -> list[str]:
        rows, self._table = self._table, []
        return render_table(rows, self._style, INDENT, self.columns)

    @property
    def _unprinted(self) -> str:
        return self._text[len(self._printed or "") :]

    def _reset(self) -> None:
        self._message, self._text, self._printed, self._thinking = "", "", "", ""


OUTPUT_ROWS = 5
ERROR_ROWS = 12
_OUTPUT_LIMIT = 8_192
_DONE = frozenset({"success", "error", "cancelled", "unknown"})


class CallRenderer:
    def __init__(self, style: Style) -> None:
        self._style = style
        self._running: dict[str, Event] = {}
        self._output: dict[str, str] = {}

    def render(self, event: Event, columns: int, wrap: int | None) -> list[str]:
        call_id = event["callId"]
        if event["status"] not in _DONE:
            self._running[call_id] = event
            return []
        self._running.pop(call_id, None)
        self._output.pop(call_id, None)
        return [self._line(event, columns), *self._explain(event, wrap)]

    def add_output(self, event: Event) -> None:
        call_id = event["callId"]
        before = "" if event.get("whole") else self._output.get(call_id, "")
        self._output[call_id] = (before + event["text"])[-_OUTPUT_LIMIT:]

    def clear(self) -> None:
        """Forget open calls: the task ended or was queued again."""
        self._running.clear()
        self._output.clear()

    def current(self) -> str:
        if not self._running:
            return ""
        first, *others = self._running.values()
        more = f" (+{len(others)} more)" if others else ""
        return f"{safe_line(first['tool'])} {format_arguments(first['args'])}{more}"

    def live(self, columns: int) -> list[str]:
        lines = [line for text in self._output.values() for line in output_lines(text) if line.strip()]
        return [self._style.dim(clip(f"  │ {line}", columns - 1)) for line in lines[-OUTPUT_ROWS:]]

    def _line(self, event: Event, columns: int) -> str:
        style, status = self._style, event["status"]
        marks = {"success": style.green("✓"), "error": style.red("✗"), "cancelled": style.yellow("■")}
        tool, about = safe_line(event["tool"]), format_arguments(event["args"])
        time = "cached" if event.get("cached") else duration(event.get("durationMs") or 0)
        summary = safe_line(event.get("summary") or "") if status == "success" else status
        summary = summary.removeprefix(f"{about} ").removesuffix(f" in {about}").removesuffix(f" {about}")
        room = max(columns - len(tool) - len(time) - 12, 10)
        about = clip(about, max(room * 2 // 3, room - len(summary) - 3))
        summary = clip(summary, max(room - len(about), 10)) if summary and summary not in (about, tool) else ""
        tail = style.dim("  ".join(part for part in (f"· {summary}" if summary else "", time) if part))
        middle = f"{style.cyan(about)} " if about else ""
        line = f"  {marks.get(status, style.yellow('?'))} {tool} {middle}{tail}"
        return line.rstrip()

    def _explain(self, event: Event, wrap: int | None) -> list[str]:
        if event["status"] == "unknown":
            return [
                self._style.yellow(
                    "    The sidecar stopped during this call: it may have taken effect and was not repeated."
                )
            ]
        error = event.get("error")
        if event["status"] != "error" or not error:
            return []
        lines = paragraph(str(error.get("message", "")).strip(), wrap, "    ")
        shown = lines if len(lines) <= ERROR_ROWS else [*lines[: ERROR_ROWS - 1], "    …"]
        return [self._style.red(line) for line in shown]
