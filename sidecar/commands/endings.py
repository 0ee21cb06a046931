"""How a task ended and what to do next; and what it asks before it goes on."""

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sidecar.commands.style import Style
from sidecar.commands.text import clip, duration, paragraph, safe, safe_line

Event = dict[str, Any]

FILES_SHOWN = 20
EVIDENCE_SHOWN = 10
#: Failures that would only repeat themselves.
_SAY_IT_DIFFERENTLY = frozenset({"not_understood"})
_SIGNS = {"created": "+", "modified": "~", "deleted": "-", "renamed": ">"}


def ending(
    style: Style,
    status: Event,
    started_at: str,
    facts: Mapping[str, Event],
    files: Sequence[Event],
    checks: Event | None,
    *,
    columns: int | None = None,
    told: str = "",
    by_checks: int = 0,
) -> list[str]:
    """`told` is what the person has just read, so that nobody has to read it twice.

    `by_checks` is how many further files were written by what verified the change.
    """
    took = duration(_milliseconds(started_at, status.get("at", "")))
    task_id = short(status.get("taskId", ""))
    proof = _unproven(style, facts.get("complete")) if checks is None else _checks(style, checks, columns)
    if by_checks:
        proof.append(style.dim(f"  The checks wrote {by_checks} file{'s' if by_checks > 1 else ''} beside the change."))
    lines = [*_files(style, files), *proof, *_usage(style, facts.get("usage"))]
    match status["status"]:
        case "completed" if checks is not None and not checks["passed"]:
            told_so = f"{style.red('✗')} {style.bold('Completed, and not verified')} in {took}"
            return [*lines, told_so, _say(style, task_id)]
        case "completed":
            return [*lines, f"{style.green('✓')} {style.bold('Completed')} in {took}  {style.dim(task_id)}".rstrip()]
        case "cancelled":
            return [*lines, *_cancelled(style, facts.get("cancelled"), took), _go_on(style, task_id)]
        case "escalated":
            needed = _escalated(style, facts.get("escalation"), took, columns)
            return [*lines, *needed, _say(style, task_id), _go_on(style, task_id)]
    error = facts.get("error", {})
    message = error.get("message") or status.get("reason") or "It did not say why."
    why = [] if message == told else paragraph(message, columns)
    return [*lines, f"{style.red('✗')} {style.bold('Failed')} after {took}", *why, _next(style, error, task_id)]


def rewound(style: Style, status: Event) -> list[str]:
    """A task that was taken back is cancelled too, but nobody stopped it."""
    to, task_id = status["rewoundTo"], short(status.get("taskId", ""))
    told = f"{style.yellow('↶')} {style.bold(f'Rewound to event {to}')}: what came after it no longer counts"
    return [told, style.dim(f"  To go on from there: brain resume --follow {task_id}")]


def approval_lines(style: Style, event: Event, columns: int | None = None) -> list[str]:
    """All of what would be done, to the last argument: whoever says yes must have seen it."""
    argv, diff = event.get("argv"), event.get("diff")
    action = event["action"].partition(" ")[0] if argv or diff else event["action"]
    lines = ["", f"{style.yellow('?')} {style.bold(safe_line(action))} needs your word"]
    lines += paragraph(safe_line(event["why"]), columns)
    if argv:
        # A single one is a line for the shell, and is shown as it would be read there.
        # A command for a shell is shown as it is typed into one.
        line = argv[2] if argv[:2] == ["/bin/sh", "-c"] and len(argv) == 3 else shlex.join(argv)
        lines += [f"    {style.bold(row)}" for row in safe(f"$ {line}").split("\n")]
    if event.get("cwd"):
        place = "the workspace" if event["cwd"] == "." else safe_line(event["cwd"])
        lines.append(style.dim(f"    in {place}"))
    for line in safe(diff or "").rstrip("\n").split("\n"):
        paint = style.green if line.startswith("+") else style.red if line.startswith("-") else style.dim
        lines += [paint(f"    {line}")] if line else []
    return lines


def short(task_id: str) -> str:
    """Enough of an id to name the task again."""
    return task_id[:10]


def _cancelled(style: Style, event: Event | None, took: str) -> list[str]:
    lines = [f"{style.yellow('■')} {style.bold('Cancelled')} after {took}"]
    for process in (event or {}).get("killed", []):
        number = style.dim(f"(process {process['pid']})")
        lines.append(f"  killed: {clip(safe_line(process['command']), 80)} {number}")
    effects = (event or {}).get("effects", [])
    for effect in effects:
        lines.append(f"  had already happened: {safe_line(effect['tool'])}: {clip(safe_line(effect['summary']), 80)}")
    return lines if effects else [*lines, style.dim("  Nothing had been changed.")]


def _escalated(style: Style, event: Event | None, took: str, columns: int | None) -> list[str]:
    reason = (event or {}).get("reason") or "It needs a person."
    lines = [f"{style.yellow('!')} {style.bold('You are needed')} after {took}", *paragraph(reason, columns)]
    for text in (event or {}).get("suggestions", []):
        lines += paragraph(safe_line(text), columns, "    ", first="  - ")
    return lines


def _next(style: Style, error: Event, task_id: str) -> str:
    if error.get("recoverable", True) and error.get("code") not in _SAY_IT_DIFFERENTLY:
        return _go_on(style, task_id)
    return style.dim(f'  To ask for it differently: brain message {task_id} "…"')


def _say(style: Style, task_id: str) -> str:
    return style.dim(f'  To say what is missing: brain message {task_id} "…"')


def _go_on(style: Style, task_id: str) -> str:
    return style.dim(f"  To go on where it stopped: brain resume --follow {task_id}")


def _files(style: Style, files: Sequence[Event]) -> list[str]:
    if not files:
        return []
    lines = [style.bold(f"{len(files)} file{'s' if len(files) > 1 else ''} changed")]
    for file in files[:FILES_SHOWN]:
        counts = f"{style.green('+' + str(file['added']))} {style.red('-' + str(file['removed']))}"
        lines.append(f"  {_SIGNS.get(file['change'], '~')} {safe_line(file['path'])}  {counts}")
    if len(files) > FILES_SHOWN:
        lines.append(style.dim(f"  … and {len(files) - FILES_SHOWN} more"))
    return lines


def _unproven(style: Style, complete: Event | None) -> list[str]:
    """Why nothing can be said of a change: nobody should take silence for proof."""
    found = (complete or {}).get("result", {}).get("verification")
    if not isinstance(found, dict) or found.get("passed") is not None:
        return []
    notes = found.get("notes") or ["There was nothing to run that could tell whether it works."]
    return [style.yellow("neither verified nor refuted"), *(style.dim(f"  {safe_line(note)}") for note in notes)]


def _checks(style: Style, event: Event, columns: int | None) -> list[str]:
    head = style.green("verified") if event["passed"] else style.red("not verified: a check failed")
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
                lines.append(style.dim(f"    … and {len(shown) - EVIDENCE_SHOWN} more lines"))
    return [*lines, *(style.dim(f"  {safe_line(note)}") for note in event.get("notes") or [])]


def _usage(style: Style, event: Event | None) -> list[str]:
    if event is None or not (event["inputTokens"] or event["outputTokens"]):
        return []
    cost = f", ${event['costUsd']:.4f}" if event["costUsd"] else ""
    return [style.dim(f"{event['inputTokens']:,} tokens in, {event['outputTokens']:,} out{cost}")]


def _milliseconds(start: str, end: str) -> float:
    try:
        return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() * 1_000
    except ValueError:
        return 0
