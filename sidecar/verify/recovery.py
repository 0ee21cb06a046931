"""What a worker is told before its next attempt: what was done, what failed, and what may help."""

from collections.abc import Sequence

from sidecar.verify.result import Checked

_FILES = 20


def to_mend(checked: Checked, changed: Sequence[str]) -> str:
    parts = ["What you said is done was checked, and does not hold."]
    if changed:
        more = f" and {len(changed) - _FILES} more" if len(changed) > _FILES else ""
        parts.append(f"Files changed by this task so far: {', '.join(changed[:_FILES])}{more}.")
    for check in checked.failed:
        ran = f" (`{check.command}`, exit code {check.exit_code})" if check.command else ""
        parts.append(f"Failed: {check.name}{ran}\n{check.evidence}".rstrip())
    if checked.notes:
        parts.append("Also known:\n" + "\n".join(f"- {note}" for note in checked.notes))
    if checked.hints:
        parts.append("Hints:\n" + "\n".join(f"- {hint}" for hint in checked.hints))
    parts.append(
        "Mend the cause of this, and nothing else; do not delete, skip or weaken tests. It will be checked again, "
        "whatever you say about it. Then say in a few sentences what you changed."
    )
    return "\n\n".join(parts)
