"""Plans and verdicts, which agents give each other as JSON, in words for a person."""

import json
from typing import Any

#: Agents that answer with JSON: what they say is told when it is whole.
STRUCTURED = frozenset({"planner", "reviewer"})
_TRIES = 20


def retold(text: str) -> str:
    """The text with its plan or verdict in words. Without one it stays as it is."""
    decoder = json.JSONDecoder()
    place = text.find("{")
    for _ in range(_TRIES):
        if place < 0:
            return text
        try:
            found, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            place = text.find("{", place + 1)
            continue
        words = _plan(found) or _verdict(found)
        if words:
            before, after = text[:place].rstrip(), text[end:].lstrip()
            before = before.removesuffix("```json").removesuffix("```").rstrip()
            after = after.removeprefix("```").strip()
            return "\n".join(part for part in (before, words, after) if part)
        place = text.find("{", end)
    return text


def _plan(found: dict[str, Any]) -> str:
    steps = found.get("steps")
    if not isinstance(steps, list):
        return ""
    lines = []
    for number, step in enumerate(steps, start=1):
        title = step.get("title") if isinstance(step, dict) else step
        if not isinstance(title, str):
            return ""
        files = step.get("files") if isinstance(step, dict) else None
        count = len(files) if isinstance(files, list) else 0
        lines.append(f"{number}. {title}" + (f" ({count} file{'s' if count != 1 else ''})" if count else ""))
    return "\n".join(lines)


def _verdict(found: dict[str, Any]) -> str:
    if not isinstance(found.get("passed"), bool):
        return ""
    head = found.get("summary") or ("Nothing wrong was found." if found["passed"] else "There are problems.")
    issues = found.get("issues")
    lines = [_issue(issue) for issue in issues if isinstance(issue, dict)] if isinstance(issues, list) else []
    return "\n".join([str(head), *lines])


def _issue(issue: dict[str, Any]) -> str:
    where = ":".join(str(issue[name]) for name in ("file", "line") if issue.get(name))
    return f"- {issue.get('severity', 'warning')}: {f'{where}: ' if where else ''}{issue.get('message', '')}"
