"""Calls that a crash interrupted: compare files with the intent record; what can't be known, a person decides."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tools.errors import ChangedElsewhere, ToolError
from tools.executor.context import CallContext
from tools.host import FileChange, Host, resolves_links
from tools.ledger import FileState, Ledger, Question, digest
from tools.spec import describe_arguments
from tools.text import escape_hidden
from tools.text_files import read_content

RUN_AGAIN = "run again"
SKIP = "skip"
LOOK = "look"
_CHOICES = (RUN_AGAIN, SKIP, LOOK)


def ask_about_unknown(context: CallContext, what: str, look: int, seen: str) -> Question:
    """`look`: how often you have looked; `seen`: what that showed. A call that ran again has new questions."""
    shown = escape_hidden(context.clean(f"{context.spec.name} {describe_arguments(context.call.args)}"[:500]))
    changes = f" {escape_hidden(context.clean(seen))}" if seen else ""
    text = (
        f"{what} It may have run, wholly or in part: {shown}.{changes} Run it again, skip it, or look at what changed?"
    )
    number = f"{context.ledger.repeats(context.call.id)}.{look}"
    return Question(f"{context.call.id}:repeat{number}", text, safe=SKIP, choices=_CHOICES)


class FileProgress(NamedTuple):
    """The files of an intent record: changed as recorded, still as before, or edited by someone else."""

    done: tuple[FileState, ...]
    open: tuple[FileState, ...]
    foreign: tuple[FileState, ...]


class RecoveryPlan(NamedTuple):
    """The changes made before the crash, and those still to make."""

    done: list[FileChange]
    open: list[FileChange]


def classify(files: Sequence[FileState], now: Mapping[str, str | None]) -> FileProgress:
    done: list[FileState] = []
    still_open: list[FileState] = []
    foreign: list[FileState] = []
    for state in files:
        found = now[state.path]
        (done if found == state.after else still_open if found == state.before else foreign).append(state)
    return FileProgress(tuple(done), tuple(still_open), tuple(foreign))


async def plan_recovery(files: Sequence[FileState], host: Host, ledger: Ledger) -> RecoveryPlan:
    contents = {state.path: await read_content(host, state.path) for state in files}
    progress = classify(files, {path: None if data is None else digest(data) for path, data in contents.items()})
    if progress.foreign:
        names = ", ".join(state.path for state in progress.foreign)
        raise ChangedElsewhere(
            f"The sidecar stopped during this change, and {names} has been edited since. Nothing was overwritten.",
            advice="Read it again, then decide whether your change is still needed.",
        )
    # The recorded paths had no links.
    located = resolves_links(host)
    changes = []
    for state in progress.open:
        after = await _blob(ledger, state.after)
        if state.after is not None and after is None:
            raise ToolError(
                f"The sidecar stopped during this change of {state.path}, and its new content was not stored.",
                advice="Read the file, then repeat the change.",
                code="content_lost",
            )
        changes.append(FileChange(state.path, contents[state.path], after, state.mode, located=located))
    done = [
        FileChange(state.path, await _blob(ledger, state.before), contents[state.path], state.mode, located=located)
        for state in progress.done
    ]
    return RecoveryPlan(done, changes)


async def _blob(ledger: Ledger, name: str | None) -> bytes | None:
    return None if name is None else await ledger.blob(name)
