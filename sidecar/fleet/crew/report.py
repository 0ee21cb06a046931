"""A crew's report: what became of each part, and the evidence."""

from collections.abc import Sequence

from sidecar.wire.tasks import SubtaskResult


def render_report(parts: Sequence[SubtaskResult], checks: Sequence[str], worktree: bool, task_id: str) -> str:
    lines = [render_parts(parts)]
    if checks:
        lines.append(f"The merged tree passed: {'; '.join(checks)}.")
    else:
        lines.append("No check has proven the merged tree.")
    if worktree:
        lines.append(f"It is in a worktree; to take it over: brain merge {task_id}")
    return "\n".join(lines)


def render_parts(parts: Sequence[SubtaskResult]) -> str:
    head = f"{len(parts)} {'part is' if len(parts) == 1 else 'parts are'} done and merged."
    return "\n".join([head, *(_part(part) for part in parts)])


def _part(part: SubtaskResult) -> str:
    proof = {True: "its checks passed", False: "its checks failed", None: "no check of its own"}[part.verified]
    tries = f", attempt {part.attempts}" if part.attempts > 1 else ""
    files = ", ".join(part.files) or "no files"
    return f"- {part.title} ({part.agent}, task {part.task_id}{tries}): {proof}; {files}"
