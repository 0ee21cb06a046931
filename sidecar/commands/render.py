"""Renders a task: events in, lines out. It knows no terminal and no clock."""

from typing import Any

from sidecar.client.follow import ENDED
from sidecar.commands.messages import CallRenderer, MessageRenderer
from sidecar.commands.summary import (
    ChangeSummary,
    NextSteps,
    render_approval,
    render_outcome,
    render_question,
    render_rewind,
)
from sidecar.commands.text import Style, clip, duration, paragraph, safe, safe_line

Event = dict[str, Any]

#: Intents of tasks that only answer.
_ANSWERS = frozenset({"chat", "explain_code"})
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class TaskRenderer:
    #: What to do after a task's end.
    next_steps = NextSteps()

    def __init__(self, style: Style, columns: int = 120, *, wrap: bool = False) -> None:
        self.status = "queued"
        self.task_id = ""
        #: Approvals that wait for an answer, oldest first.
        self.open_approvals: dict[str, Event] = {}
        self.open_questions: dict[str, Event] = {}
        self._style = style
        self._wraps = wrap
        self._shown = ""
        self._seen = 0
        self._live = False
        self._calls = CallRenderer(style)
        self._messages = MessageRenderer(style, None)
        self.resize(columns)
        self._step = ""
        self._model = ""
        self._first_at = ""
        self._facts: dict[str, Event] = {}
        self._changes = ChangeSummary()
        self._agent = ""
        #: The task only answers, so its route and its only step aren't shown.
        self._answers = False
        self._plan: list[str] = []
        #: For each part of a crew's plan, the task that works on it, and whether that waits for you.
        self._at_work: dict[str, tuple[str | None, bool]] = {}
        self._checks: Event | None = None

    @property
    def seen(self) -> int:
        """The number of the last event."""
        return self._seen

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    def resize(self, columns: int) -> None:
        """What is rendered from now on fits into this many columns."""
        self._columns = columns
        self._wrap = self._messages.columns = columns if self._wraps else None

    def render(self, event: Event, connected_at: str = "") -> list[str]:
        """The lines to print. A repeated event gives none."""
        seq = event.get("seq")
        if seq is not None:
            if seq <= self._seen:
                return []
            self._seen = seq
            self.task_id = event.get("taskId", self.task_id)
            self._first_at = self._first_at or event.get("at", "")
            # A delta after an event that happened while we watched starts its message.
            self._live = event.get("at", "") >= connected_at
        handle = getattr(self, f"_on_{event['type']}", None)
        lines: list[str] = handle(event) if handle is not None else []
        return lines

    def live(self, elapsed: float, columns: int) -> list[str]:
        """The live part: unfinished text, command output, and what is running for how long."""
        if self.ended or self.open_approvals or self.open_questions:
            return []
        frame = _SPINNER[int(elapsed * 10) % len(_SPINNER)]
        doing = self._calls.current() or (
            "Cancelling" if self.status == "cancelling" else self._step or "Waiting to start"
        )
        room = columns - 14
        bottom = (
            f"{self._style.cyan(frame)} {clip(doing, room)} {self._style.dim(duration(elapsed * 1000 // 100 * 100))}"
        )
        return [*self._messages.live(columns), *self._calls.live(columns), bottom]

    # -- one method per event type ------------------------------------------------------------------------------------

    def _on_status(self, event: Event) -> list[str]:
        before, self.status = self.status, event["status"]
        reason = safe_line(event.get("reason") or "")
        if event.get("rewoundTo") is not None:
            self._changes.rewind(event["rewoundTo"], event["seq"])
            self._checks = None
            return [*self._messages.finish(), "", *render_rewind(self._style, event, self.next_steps)]
        if self.ended:
            lines = render_outcome(
                self._style,
                event,
                self._first_at,
                self._facts,
                self._changes.files(),
                self._checks,
                columns=self._wrap,
                shown=self._shown,
                by_checks=self._changes.by_checks(),
                steps=self.next_steps,
            )
            self._facts.clear()
            self._calls.clear()
            # An ended task asks nothing; when it resumes, it asks again.
            self.open_approvals.clear()
            self.open_questions.clear()
            return [*self._messages.finish(), "", *lines]
        if self.status == before == "queued" and reason and self._seen == 1:
            # A task whose first status has a reason was forked.
            return [self._style.dim(f"⑂ {reason}")]
        if self.status == "queued" and self._seen > 1:
            self._first_at = event.get("at", "")
            self._calls.clear()
            self._shown = ""
            return ["", self._style.dim(f"↻ {reason or 'queued again'}")]
        if self.status == "interrupted":
            return [self._style.yellow(f"‖ {reason or 'The sidecar stopped.'}")]
        if self.status == "cancelling":
            return [self._style.yellow("■ Cancelling: stopping everything the task started …")]
        return []

    def _on_branch(self, event: Event) -> list[str]:
        branch, remote = safe_line(event["branch"]), safe_line(event["remote"])
        if event["state"] == "cloned":
            return [self._style.dim(f"Cloned {branch} of {remote}")]
        if event["state"] == "pushed":
            return [f"The result is the branch {branch} of {remote}."]
        return [safe_line(event["why"])]

    def _on_worktree(self, event: Event) -> list[str]:
        if event["state"] != "created":
            return [self._style.dim(f"The worktree was {event['state']}.")]
        without = safe_line(", ".join(event.get("leftOut") or []))
        text = f"Working in the worktree {safe_line(event['path'])}" + (f", without {without}" if without else "")
        return [self._style.dim(row) for row in paragraph(text, self._wrap)]

    def _on_route(self, event: Event) -> list[str]:
        self._answers = event["intent"] in _ANSWERS and len(event["pipeline"]) == 1
        if self._answers:
            return []  # an answer needs no explanation of how it came about; `brain route` gives it
        pipeline = f": {' → '.join(event['pipeline'])}" if event["pipeline"] else ""
        text = safe_line(f"{event['intent']}{pipeline}, because {event['why']}")
        return [self._style.dim(row) for row in paragraph(text, self._wrap)]

    def _on_step(self, event: Event) -> list[str]:
        self._agent = event["agent"]
        head = f"{event['agent']} {event['step']}/{event['total']}"
        self._step = safe_line(f"{head} {event['message']}")
        if event["state"] == "started" and self._answers and event["total"] == 1:
            return [""]
        if event["state"] == "started":
            return ["", f"{self._style.bold(safe_line(head))}  {self._style.dim(safe_line(event['message']))}"]
        lines = self._messages.finish()
        if event["state"] == "failed" and self.status != "cancelling":
            # A cancelled step shows up in the task's outcome.
            lines.append(f"{self._style.red('✗')} {safe_line(head)} failed")
            lines += [] if event["message"] == self._shown else paragraph(event["message"], self._wrap)
            self._shown = event["message"]
        return lines

    def _on_model(self, event: Event) -> list[str]:
        name = f"{event['provider']}/{event['model']}"
        changed, self._model = self._model and name != self._model, name
        if event.get("fallbackFrom"):
            why = event.get("reason") or "it didn't answer"
            return [self._style.yellow(safe_line(f"  {name} takes over from {event['fallbackFrom']}: {why}"))]
        return [self._style.dim(safe_line(f"  now {name}"))] if changed else []

    def _on_delta(self, event: Event) -> list[str]:
        return self._messages.delta(event, from_its_start=self._live)

    def _on_message(self, event: Event) -> list[str]:
        if event["role"] == "user":
            first, *rest = safe(event["text"]).split("\n")
            return [f"{self._style.cyan('›')} {self._style.bold(first)}", *(f"  {line}" for line in rest)]
        self._shown = event["text"]
        return self._messages.message(event)

    def _on_tool(self, event: Event) -> list[str]:
        return [*self._messages.finish(), *self._calls.render(event, self._columns, self._wrap)]

    def _on_tool_output(self, event: Event) -> list[str]:
        self._calls.add_output(event)
        return []

    def _on_approval(self, event: Event) -> list[str]:
        if event["state"] == "requested":
            self.open_approvals[event["approvalId"]] = event
            return render_approval(self._style, event, self._wrap)
        self.open_approvals.pop(event["approvalId"], None)
        allowed = event["state"] == "allowed"
        return [self._style.green("  Allowed") if allowed else self._style.red("  Denied")]

    def _on_question(self, event: Event) -> list[str]:
        if event["state"] == "asked":
            self.open_questions[event["questionId"]] = event
            return [*self._messages.finish(), *render_question(self._style, event, self._wrap)]
        self.open_questions.pop(event["questionId"], None)
        who = "by policy, " if event.get("by") == "policy" else ""
        return [self._style.dim(safe_line(f"  {who}answered: {event['answer']}"))]

    def _on_plan(self, event: Event) -> list[str]:
        titles = [safe_line(item["title"]) for item in event["items"]]
        parts = self._parts(event["items"])
        if titles == self._plan:
            return parts  # otherwise only the state of a step changed, which step events show
        self._plan = titles
        lines = [f"  {number}. {title}" for number, title in enumerate(titles, start=1)]
        return [*self._messages.finish(), *lines, *parts]

    def _parts(self, items: list[Event]) -> list[str]:
        """Tasks that began to work on a part of a crew's plan, or that need you."""
        lines = []
        for item in items:
            task, waits = item.get("taskId"), item.get("status") == "waiting"
            known, self._at_work[item["id"]] = self._at_work.get(item["id"]), (task, waits)
            who = safe_line(f"{item['title']} ({item.get('agent')})")
            if task and waits and known != (task, waits):
                lines.append(
                    self._style.yellow(f"  ‖ {who} needs you; in another terminal: brain show --follow {task}")
                )
            elif task and (known is None or known[0] != task):
                lines.append(self._style.dim(f"  → {who} is {task}"))
        return lines

    def _on_verdict(self, event: Event) -> list[str]:
        style = self._style
        head = style.green("No problems found.") if event["approved"] else style.yellow("The review found problems:")
        lines = [*self._messages.finish(), f"  {head}" if event["approved"] or event["issues"] else "  Not approved."]
        for issue in event["issues"]:
            place = ":".join(str(issue[name]) for name in ("path", "line") if issue.get(name))
            text = f"{issue['severity']}: {f'{place}: ' if place else ''}{issue['text']}"
            lines += paragraph(safe_line(text), self._wrap, "    ", first="  - ")
        return lines

    def _on_diff(self, event: Event) -> list[str]:
        self._checks = None  # earlier checks say nothing about the new files
        self._changes.add(event, by_checks=self._agent == "verify")
        return []

    def _on_verification(self, event: Event) -> list[str]:
        self._checks = event
        return []

    def _on_retry(self, event: Event) -> list[str]:
        rows = paragraph(f"Attempt {event['attempt']} of {event['of']}: {event['error']}", self._wrap)
        lines = [*self._messages.finish(), *(self._style.yellow(row) for row in rows)]
        for hint in event["hints"]:
            lines += [self._style.dim(row) for row in paragraph(safe_line(hint), self._wrap, "    ", first="  - ")]
        return lines

    def _keep_fact(self, event: Event) -> list[str]:
        """For the task's outcome."""
        self._facts[event["type"]] = event
        return []

    _on_escalation = _on_complete = _on_error = _on_cancelled = _on_usage = _keep_fact
