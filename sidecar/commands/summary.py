"""Renders a task's outcome with its next steps, and its approvals."""

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sidecar.commands.text import Style, clip, duration, paragraph, safe, safe_line, short
from sidecar.engine.timeline import Rewind, Timeline
from sidecar.wire.text import plural

Event = dict[str, Any]

FILES_SHOWN = 20
EVIDENCE_SHOWN = 10
#: Only other words help.
_REPHRASE = frozenset({"not_understood"})
_SIGNS = {"created": "+", "modified": "~", "deleted": "-", "renamed": ">"}


class NextSteps(NamedTuple):
    """What to do after a task's end; `{}` is the task."""

    rephrase: str = 'Rephrase it: brain message {} "…"'
    follow_up: str = 'Continue with a message: brain message {} "…"'
    change: str = 'Tell it what to change: brain message {} "…"'
    resume: str = "Resume it: brain resume --follow {}"
    rewound: str = "Continue from there: brain resume --follow {}"


def render_outcome(
    style: Style,
    status: Event,
    started_at: str,
    facts: Mapping[str, Event],
    files: Sequence[Event],
    checks: Event | None,
    *,
    columns: int | None = None,
    shown: str = "",
    by_checks: int = 0,
    steps: NextSteps = NextSteps(),  # noqa: B008 - immutable
) -> list[str]:
    """`shown` is the text printed last, so that it isn't repeated; `by_checks` counts files the checks wrote."""
    took = duration(_milliseconds(started_at, status.get("at", "")))
    task_id = short(status.get("taskId", ""))
    resume, change, rephrase, follow_up = (
        [style.dim(row) for row in paragraph(each.format(task_id), columns)]
        for each in (steps.resume, steps.change, steps.rephrase, steps.follow_up)
    )
    proof = _unproven(style, facts.get("complete"), columns) if checks is None else _checks(style, checks, columns)
    if by_checks:
        proof.append(style.dim(f"  The checks wrote {plural(by_checks, 'more file')}."))
    lines = [*_files(style, files), *proof, *_usage(style, facts.get("usage"))]
    match status["status"]:
        case "completed" if checks is not None and not checks["passed"]:
            head = f"{style.red('✗')} {style.bold('Completed, but a check failed')} in {took}"
            return [*lines, head, *change]
        case "completed":
            return [*lines, f"{style.green('✓')} {style.bold('Completed')} in {took}  {style.dim(task_id)}".rstrip()]
        case "cancelled":
            return [*lines, *_cancelled(style, facts.get("cancelled"), took, columns), *resume]
        case "escalated":
            needed = _escalated(style, facts.get("escalation"), took, columns)
            return [*lines, *needed, *change, *resume]
    error = facts.get("error", {})
    message = error.get("message") or status.get("reason") or "No reason given."
    why = [] if message == shown else paragraph(message, columns)
    again = resume if error.get("recoverable", True) else follow_up
    following = rephrase if error.get("code") in _REPHRASE else again
    return [*lines, f"{style.red('✗')} {style.bold('Failed')} after {took}", *why, *following]


def render_rewind(style: Style, status: Event, steps: NextSteps = NextSteps()) -> list[str]:  # noqa: B008 - immutable
    to, task_id = status["rewoundTo"], short(status.get("taskId", ""))
    head = f"{style.yellow('↶')} {style.bold(f'Rewound to event {to}')}; later events no longer count"
    return [head, style.dim(f"  {steps.rewound.format(task_id)}")]


#: What the diff of an approval shows, if not what the call would write.
_SINCE = {
    "trusted": "Changed since you trusted this workspace:",
    "asked": "Changed since you last allowed this, or were asked:",
}


def render_restored(style: Style, done: Event) -> list[str]:
    """What a rewind changed, and what it left: one line for each file."""
    lines = [f"  {style.green(file['change'])}  {safe_line(file['path'])}" for file in done["files"]]
    for name, mark in (("conflicts", style.yellow("left alone")), ("notRestored", style.red("not restored"))):
        lines += [f"  {mark}  {safe_line(file['path'])}  {safe_line(file['why'])}" for file in done[name]]
    return lines


def render_approval(style: Style, event: Event, columns: int | None = None) -> list[str]:
    """The whole call, to the last argument: you must see what you approve."""
    argv, diff = event.get("argv"), event.get("diff")
    action: str = event["action"]
    if argv or diff:
        action = event.get("tool") or action
    lines = ["", f"{style.yellow('?')} {style.bold(safe_line(action))} needs your approval"]
    lines += paragraph(safe_line(event["why"]), columns)
    if argv:
        # A shell command is shown as you would type it.
        line = argv[2] if argv[:2] == ["/bin/sh", "-c"] and len(argv) == 3 else shlex.join(argv)
        rows = [row for each in safe(f"$ {line}").split("\n") for row in _cut(each, columns)]
        lines += [f"    {style.bold(row)}" for row in rows]
    if event.get("cwd"):
        place = "the workspace" if event["cwd"] == "." else safe_line(event["cwd"])
        lines.append(style.dim(f"    in {place}"))
    if since := _SINCE.get(event.get("since") or ""):
        lines.append(style.dim(f"    {since}"))
    for line in safe(diff or "").rstrip("\n").split("\n"):
        paint = style.green if line.startswith("+") else style.red if line.startswith("-") else style.dim
        lines += [paint(f"    {line}")] if line else []
    if omitted := event.get("omittedLines"):
        lines.append(style.dim(f"    … {plural(omitted, 'more line')}"))
    return lines


def _cut(line: str, columns: int | None) -> list[str]:
    """Rows of a command that fit the terminal, with every character of it."""
    if columns is None:
        return [line]
    room = max(columns - 7, 20)
    rows = [line[:room]]
    rows += [f"  {line[start : start + room]}" for start in range(room, len(line), room)]
    return rows


def render_question(style: Style, event: Event, columns: int | None = None) -> list[str]:
    lines = ["", f"{style.yellow('?')} {style.bold('The task asks')}", *paragraph(safe(event["text"]), columns)]
    for number, choice in enumerate(event.get("choices") or (), start=1):
        lines.append(f"    {number}. {safe_line(choice)}")
    return lines


def _cancelled(style: Style, event: Event | None, took: str, columns: int | None) -> list[str]:
    room = max((columns or 110) - 30, 20)
    lines = [f"{style.yellow('■')} {style.bold('Cancelled')} after {took}"]
    for process in (event or {}).get("killed", []):
        number = style.dim(f"(process {process['pid']})")
        lines.append(f"  killed: {clip(safe_line(process['command']), room)} {number}")
    effects = (event or {}).get("effects", [])
    for effect in effects:
        happened = f"already happened: {safe_line(effect['tool'])}: {clip(safe_line(effect['summary']), 80)}"
        lines += paragraph(happened, columns, "    ", first="  ")
    return lines if effects else [*lines, style.dim("  No changes had been made.")]


def _escalated(style: Style, event: Event | None, took: str, columns: int | None) -> list[str]:
    reason = (event or {}).get("reason") or "The task needs you."
    lines = [f"{style.yellow('!')} {style.bold('Needs you')} after {took}", *paragraph(reason, columns)]
    for text in (event or {}).get("suggestions", []):
        lines += paragraph(safe_line(text), columns, "    ", first="  - ")
    return lines


def _files(style: Style, files: Sequence[Event]) -> list[str]:
    if not files:
        return []
    lines = [style.bold(f"{plural(len(files), 'file')} changed")]
    for file in files[:FILES_SHOWN]:
        counts = f"{style.green('+' + str(file['added']))} {style.red('-' + str(file['removed']))}"
        lines.append(f"  {_SIGNS.get(file['change'], '~')} {safe_line(file['path'])}  {counts}")
    if len(files) > FILES_SHOWN:
        lines.append(style.dim(f"  … and {len(files) - FILES_SHOWN} more"))
    return lines


def _unproven(style: Style, complete: Event | None, columns: int | None) -> list[str]:
    """Say when nothing verified the change; silence would look like proof."""
    result = (complete or {}).get("result", {})
    found = result.get("verification")
    if not isinstance(found, dict) or found.get("passed") is not None:
        return []
    if not (result.get("filesModified") or found.get("notes")):
        return []  # there is no change that a check could verify
    notes = found.get("notes") or ["No check could run."]
    return [style.yellow("Not verified"), *_notes(style, notes, columns)]


def _checks(style: Style, event: Event, columns: int | None) -> list[str]:
    head = style.green("Verified") if event["passed"] else style.red("A check failed")
    lines = [head]
    for check in event["checks"]:
        mark = style.green("✓") if check["passed"] else style.red("✗")
        name = safe_line(check["name"])
        room = max((columns or 120) - len(name) - 7, 20)
        lines.append(f"  {mark} {name}  {style.dim(clip(safe_line(check['command']), room))}".rstrip())
        if not check["passed"] and check.get("evidence"):
            shown = safe(check["evidence"]).rstrip("\n").split("\n")
            lines += [f"    {line}" for line in shown[:EVIDENCE_SHOWN]]
            if len(shown) > EVIDENCE_SHOWN:
                lines.append(style.dim(f"    … and {plural(len(shown) - EVIDENCE_SHOWN, 'more line')}"))
    return [*lines, *_notes(style, event.get("notes") or [], columns)]


def _notes(style: Style, notes: Sequence[str], columns: int | None) -> list[str]:
    # "Not verified" is shown above them.
    texts = [safe_line(note).removeprefix("Not verified: ") for note in notes]
    return [style.dim(row) for text in texts for row in paragraph(text[:1].upper() + text[1:], columns)]


def _usage(style: Style, event: Event | None) -> list[str]:
    if event is None or not (event["inputTokens"] or event["outputTokens"]):
        return []
    cost = f", ${event['costUsd']:.4f}" if event["costUsd"] else ""
    full = _context_share(event)
    return [style.dim(f"{event['inputTokens']:,} tokens in, {event['outputTokens']:,} out{cost}{full}")]


def _context_share(event: Event) -> str:
    used, limit = event.get("contextTokens"), event.get("contextLimit")
    return f", context {100 * used // limit} % full" if used and limit else ""


def _milliseconds(start: str, end: str) -> float:
    try:
        return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() * 1_000
    except ValueError:
        return 0


class ChangeSummary:
    """A task's changed files, added up from its events, without what was rewound."""

    def __init__(self) -> None:
        self._diffs: list[tuple[int, bool, list[Event]]] = []
        self._rewinds: list[Rewind] = []

    def add(self, event: Event, *, by_checks: bool) -> None:
        self._diffs.append((event.get("seq", 0), by_checks, event["files"]))

    def rewind(self, to: int, at: int) -> None:
        self._rewinds.append(Rewind(to, at))

    def files(self) -> list[Event]:
        files: dict[str, Event] = {}
        for changed in self._counting(by_checks=False):
            for file in changed:
                known = files.get(file["path"])
                if known is None:
                    files[file["path"]] = dict(file)
                elif known["change"] != "created":
                    known["added"] += file["added"]
                    known["removed"] += file["removed"]
                    known["change"] = file["change"]
                elif file["change"] == "deleted":
                    del files[file["path"]]
                else:
                    # A new file loses only lines that the task itself had added.
                    known["added"] = max(0, known["added"] + file["added"] - file["removed"])
        return list(files.values())

    def by_checks(self) -> int:
        """How many further files the checks wrote, such as build output."""
        written = {file["path"] for changed in self._counting(by_checks=True) for file in changed}
        return len(written - {file["path"] for file in self.files()})

    def _counting(self, *, by_checks: bool) -> list[list[Event]]:
        timeline = Timeline.of(self._rewinds)
        return [files for seq, checks, files in self._diffs if checks == by_checks and timeline.holds(seq)]
