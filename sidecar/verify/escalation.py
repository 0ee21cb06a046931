"""When a person is needed: what is known, and what they could do about it."""

from collections.abc import Sequence

from sidecar.verify.hints import same_approach
from sidecar.verify.result import Checked

#: How often a worker may try, the first time included.
ATTEMPTS = 3


def reason(checked: Checked, earlier: Sequence[Checked], why: str = "") -> str:
    tried = len(earlier) + 1
    times = "once" if tried == 1 else f"{tried} times"
    told = f"It was tried {times}, and what was done does not pass: {checked.error}."
    if same_approach(earlier, checked.state) is not None:
        told += " The last attempt did the same as one before it."
    return f"{told} {why}".strip() + " Everything that was done is kept."


def suggestions(checked: Checked, changed: Sequence[str]) -> list[str]:
    failed = checked.failed[0] if checked.failed else None
    about = f" ({failed.evidence.partition(chr(10))[0][:160]})" if failed is not None and failed.evidence else ""
    where = ", ".join(changed[:5]) or "the workspace"
    by_hand = f"Do it by hand: the change stands in {where}"
    if failed is not None and failed.command:
        by_hand += f"; `{failed.command}` shows what is wrong"
    return [
        "Simplify: ask for one smaller part of it first, in a message to this task.",
        f"Give more context: say in a message what should happen where it fails{about}, or in which file.",
        f"{by_hand}. Then resume the task, and it is checked again.",
        "Take it back: rewind the task to before the change.",
    ]
