"""Renders tool calls: one line each when done, and live output while they run."""

from typing import Any

from sidecar.commands.text import Style, clip, duration, format_arguments, output_lines, paragraph, safe_line

OUTPUT_ROWS = 5
ERROR_ROWS = 12
_OUTPUT_LIMIT = 8_192
_DONE = frozenset({"success", "error", "cancelled", "unknown"})

Event = dict[str, Any]


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
