"""File changes of a call: recorded before they are written, written all or none."""

import stat
from collections.abc import Sequence

from sidecar.telemetry.redaction import REDACTED
from tools.errors import ChangedElsewhere, FileMissing, InvalidArguments, ToolError
from tools.executor.context import CallContext, redact_arguments
from tools.host import FileChange, Host, resolves_links
from tools.ledger import FileState, IntentRecord, NewBlob, Outcome, digest
from tools.local.repository.view import HooksPath, is_hook
from tools.paths import parents
from tools.protected import protected_part, secret_part
from tools.shield import run_to_completion
from tools.spec import PreparedChange, ToolResult

_MARKER = REDACTED.encode()


async def change_files(context: CallContext, host: Host, prepared: PreparedChange) -> Outcome:
    """Record what will change, change it, record that it did. Once begun, a cancel waits for the end."""
    prepared = _check_unseen(context, prepared)
    _check_redacted(prepared.changes)
    changes: list[FileChange] = []
    if prepared.changes:
        changes = [await locate(host, each, context.leads.get(each.path)) for each in prepared.changes]
        files, blobs = _states(changes, [await _missing_folders(host, each) for each in changes])
        args = redact_arguments(context.call.args, context.redact, context.clean)
        record = IntentRecord(tool=context.spec.name, args=args, backend=context.backend, files=files)
        await context.ledger.intend(context.call.id, record, context.event("running"), blobs)
        context.begun = True
    outcome = await run_to_completion(apply_changes(context, host, changes, prepared.result))
    if outcome.status == "success":
        for change in prepared.changes:
            context.session.saw(change.path, change.after)
    return outcome


async def apply_changes(context: CallContext, host: Host, changes: Sequence[FileChange], result: ToolResult) -> Outcome:
    try:
        await apply_all(host, changes)
    except ToolError as error:
        outcome = context.failed(error)
    else:
        for change in changes:
            context.session.saw(change.path, change.after)
        outcome = context.ended(result)
    await context.settle(outcome)
    return outcome


async def apply_all(host: Host, changes: Sequence[FileChange]) -> None:
    """All or none: a failure undoes the changes before it, except in files that someone else has touched since."""
    done: list[FileChange] = []
    try:
        for change in changes:
            await host.apply(change)
            done.append(change)
    except ToolError as error:
        for change in reversed(done):
            try:
                await host.apply(change._replace(before=change.after, after=change.before))
            except ToolError:
                error.message += f" {change.path} had already been changed and could not be restored."
        raise


def _check_unseen(context: CallContext, prepared: PreparedChange) -> PreparedChange:
    """Never overwrite an edit that the agent hasn't seen; mention one that the change leaves in place."""
    session = context.session
    unseen = [note for change in prepared.changes if (note := session.unseen(change.path, change.before))]
    if not unseen:
        return prepared
    for change in prepared.changes:
        session.saw(change.path, change.before)  # the agent learns of it now, so a second try may proceed
    notes = "\n".join(unseen)
    if prepared.replaces:
        advice = "Take this into account, then repeat your change."
        raise ChangedElsewhere(f"{notes}\nNothing was written.", advice=advice)
    result = prepared.result._replace(content=f"{prepared.result.content}\nNote: {notes}")
    return prepared._replace(result=result)


def _check_redacted(changes: Sequence[FileChange]) -> None:
    for change in changes:
        if _MARKER in (change.after or b"") and _MARKER not in (change.before or b""):
            raise InvalidArguments(
                f"The new content of {change.path} contains {REDACTED}…], the placeholder for a hidden secret.",
                advice="Edit around it with edit_file, so that the secret stays as it is.",
            )


async def locate(host: Host, change: FileChange, checked: str | None = None) -> FileChange:
    """The change of the file itself: an undo must find it even when a link that led to it is gone.

    `checked` is where policy saw the path lead; without it, no link may lead the change into a protected file.
    """
    if not resolves_links(host):
        return change
    folder, _, name = change.path.rpartition("/")
    if not (stat.S_ISLNK(change.mode or 0) or stat.S_ISLNK(change.was or 0)):
        real = await host.resolve(change.path)
    else:
        real = f"{await host.resolve(folder)}/{name}" if folder else name
    if checked is None and real != change.path and _is_protected(real, host):
        raise ChangedElsewhere(f"{change.path} leads to {real}. Nothing was written.", advice="Name that file itself.")
    if checked is not None and real != checked:
        raise ChangedElsewhere(f"{change.path} leads elsewhere now. Nothing was written.", advice="Look there.")
    return change._replace(path=real, located=True)


def _is_protected(real: str, host: Host) -> bool:
    return bool(protected_part(real) or secret_part(real)) or is_hook(real, HooksPath(host.workspace).find())


async def _missing_folders(host: Host, change: FileChange) -> int:
    """How many folders are created with a file."""
    count = 0
    for folder in parents(change.path) if change.before is None else ():
        try:
            await host.stat(folder or ".")
            break
        except FileMissing:
            count += 1
        except ToolError:
            break
    return count


def _states(changes: Sequence[FileChange], folders: Sequence[int]) -> tuple[list[FileState], list[NewBlob]]:
    files: list[FileState] = []
    blobs: list[NewBlob] = []
    for change, created in zip(changes, folders, strict=True):
        before = None if change.before is None else digest(change.before)
        after = None if change.after is None else digest(change.after)
        made = created or None
        files.append(FileState(path=change.path, before=before, after=after, mode=change.mode, folders=made))
        if change.before is not None:
            blobs.append(NewBlob(change.before))
        if change.after is not None:
            blobs.append(NewBlob(change.after, before))
    return files, blobs
