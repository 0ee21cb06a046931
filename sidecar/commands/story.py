"""A task told in lines: events in, lines out. It knows no terminal and no clock; the time is passed in."""

from typing import Any

from sidecar.commands.calls import Calls
from sidecar.commands.edits import Edits
from sidecar.commands.endings import approval_lines, ending, rewound
from sidecar.commands.prose import Prose
from sidecar.commands.style import Style
from sidecar.commands.text import clip, duration, paragraph, safe, safe_line

Event = dict[str, Any]

ENDED = frozenset({"completed", "failed", "cancelled", "escalated"})
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Story:
    def __init__(self, style: Style, columns: int = 120, *, wrap: bool = False) -> None:
        self.status = "queued"
        self.task_id = ""
        #: Approvals that wait for an answer, by id, in the order in which they were asked for.
        self.open_questions: dict[str, Event] = {}
        self._style = style
        self._columns = columns
        self._wrap = columns if wrap else None
        self._told = ""
        self._seen = 0
        self._watched = False
        self._calls = Calls(style)
        self._prose = Prose(style, self._wrap)
        self._step = ""
        self._model = ""
        self._first_at = ""
        self._facts: dict[str, Event] = {}
        self._edits = Edits()
        self._agent = ""
        self._checks: Event | None = None

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    def take(self, event: Event, connected_at: str = "") -> list[str]:
        """The lines that stay. An event that comes a second time says nothing."""
        seq = event.get("seq")
        if seq is not None:
            if seq <= self._seen:
                return []
            self._seen = seq
            self.task_id = event.get("taskId", self.task_id)
            self._first_at = self._first_at or event.get("at", "")
            # Words that follow something that happened while we watched are the first of their message.
            self._watched = event.get("at", "") >= connected_at
        handle = getattr(self, f"_on_{event['type']}", None)
        lines: list[str] = handle(event) if handle is not None else []
        return lines

    def live(self, elapsed: float, columns: int) -> list[str]:
        """The lines of the moment: what is being said, what a command prints, what is at work and for how long."""
        if self.ended or self.open_questions:
            return []
        frame = _SPINNER[int(elapsed * 10) % len(_SPINNER)]
        doing = self._calls.doing() or (
            "Cancelling" if self.status == "cancelling" else self._step or "Waiting to start"
        )
        room = columns - 14
        bottom = (
            f"{self._style.cyan(frame)} {clip(doing, room)} {self._style.dim(duration(elapsed * 1000 // 100 * 100))}"
        )
        return [*self._prose.live(columns), *self._calls.live(columns), bottom]

    # -- one method an event -----------------------------------------------------------------------------------------

    def _on_status(self, event: Event) -> list[str]:
        before, self.status = self.status, event["status"]
        reason = safe_line(event.get("reason") or "")
        if event.get("rewoundTo") is not None:
            self._edits.rewound(event["rewoundTo"], event["seq"])
            self._checks = None
            return [*self._prose.finish(), "", *rewound(self._style, event)]
        if self.ended:
            lines = ending(
                self._style,
                event,
                self._first_at,
                self._facts,
                self._edits.files(),
                self._checks,
                columns=self._wrap,
                told=self._told,
                by_checks=self._edits.by_checks(),
            )
            self._facts.clear()
            self._calls.finish()
            return [*self._prose.finish(), "", *lines]
        if self.status == before == "queued" and reason:
            # A task that begins with a reason was forked: from what, and which files were left as they are.
            return [self._style.dim(f"⑂ {reason}")]
        if self.status == "queued" and before != "queued":
            self._first_at = event.get("at", "")
            self._calls.finish()
            return ["", self._style.dim(f"↻ {reason or 'queued again'}")]
        if self.status == "interrupted":
            return [self._style.yellow(f"‖ {reason or 'The sidecar stopped.'}")]
        if self.status == "cancelling":
            return [self._style.yellow("■ Cancelling: stopping everything that the task started …")]
        return []

    def _on_route(self, event: Event) -> list[str]:
        pipeline = " → ".join(event["pipeline"])
        text = safe_line(f"{event['intent']}: {pipeline}, because {event['why']}")
        return [self._style.dim(row) for row in paragraph(text, self._wrap)]

    def _on_step(self, event: Event) -> list[str]:
        self._agent = event["agent"]
        head = f"{event['agent']} {event['step']}/{event['total']}"
        self._step = safe_line(f"{head} {event['message']}")
        if event["state"] == "started":
            return ["", f"{self._style.bold(safe_line(head))}  {self._style.dim(safe_line(event['message']))}"]
        lines = self._prose.finish()
        if event["state"] == "failed" and self.status != "cancelling":
            # What a person stops has not failed; the end of the task says that it was stopped.
            lines.append(f"{self._style.red('✗')} {safe_line(head)} failed")
            lines += [] if event["message"] == self._told else paragraph(event["message"], self._wrap)
            self._told = event["message"]
        return lines

    def _on_model(self, event: Event) -> list[str]:
        name = f"{event['provider']}/{event['model']}"
        changed, self._model = self._model and name != self._model, name
        if event.get("fallbackFrom"):
            why = event.get("reason") or "it could not answer"
            return [self._style.yellow(safe_line(f"  {name} takes over from {event['fallbackFrom']}: {why}"))]
        return [self._style.dim(safe_line(f"  now {name}"))] if changed else []

    def _on_delta(self, event: Event) -> list[str]:
        return self._prose.delta(event, from_its_start=self._watched)

    def _on_message(self, event: Event) -> list[str]:
        if event["role"] == "user":
            first, *rest = safe(event["text"]).split("\n")
            return [f"{self._style.cyan('›')} {self._style.bold(first)}", *(f"  {line}" for line in rest)]
        self._told = event["text"]
        return self._prose.message(event)

    def _on_tool(self, event: Event) -> list[str]:
        return [*self._prose.finish(), *self._calls.take(event, self._columns, self._wrap)]

    def _on_tool_output(self, event: Event) -> list[str]:
        self._calls.output(event)
        return []

    def _on_approval(self, event: Event) -> list[str]:
        if event["state"] == "requested":
            self.open_questions[event["approvalId"]] = event
            return approval_lines(self._style, event, self._wrap)
        self.open_questions.pop(event["approvalId"], None)
        allowed = event["state"] == "allowed"
        return [self._style.green("  allowed") if allowed else self._style.red("  denied")]

    def _on_handoff(self, event: Event) -> list[str]:
        return []

    def _on_diff(self, event: Event) -> list[str]:
        self._checks = None  # what was verified before says nothing about the files now
        self._edits.take(event, by_checks=self._agent == "verify")
        return []

    def _on_verification(self, event: Event) -> list[str]:
        self._checks = event
        return []

    def _on_retry(self, event: Event) -> list[str]:
        rows = paragraph(f"attempt {event['attempt']} of {event['of']}: {event['error']}", self._wrap)
        lines = [*self._prose.finish(), *(self._style.yellow(row) for row in rows)]
        for hint in event["hints"]:
            lines += [self._style.dim(row) for row in paragraph(safe_line(hint), self._wrap, "    ", first="  - ")]
        return lines

    def _on_escalation(self, event: Event) -> list[str]:
        self._facts["escalation"] = event
        return []

    def _on_complete(self, event: Event) -> list[str]:
        self._facts["complete"] = event
        return []

    def _on_error(self, event: Event) -> list[str]:
        self._facts["error"] = event
        return []

    def _on_cancelled(self, event: Event) -> list[str]:
        self._facts["cancelled"] = event
        return []

    def _on_usage(self, event: Event) -> list[str]:
        self._facts["usage"] = event
        return []
