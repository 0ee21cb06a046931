"""What a task did to files, according to its records, and whether that was verified.

Every round ends here, so this must stay cheap; verification itself is imported only when needed.
"""

import asyncio
import json
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from pydantic import JsonValue

from sidecar.engine.state import TaskState
from sidecar.engine.steps import CallKey
from sidecar.work.roster import SET_MODE, WRITE
from tools.ledger import FileState, IntentRecord
from tools.policy.consent import consents

if TYPE_CHECKING:
    from sidecar.engine.run import TaskRun

#: An answer that may claim a change to a file; verification parses the claim with care.
_MAY_CLAIM = re.compile(
    r"\b(?:created|wrote|written|added|generated|saved|changed|updated|edited|modified|fixed|committed)\b[^\n]{0,200}?\w\.\w"
    r"|\bcommitted\b"
    # Or a number of commits, files or tests, in the languages that `verify/counts.py` knows.
    r"|\bcommits?\b|\d[^\n]{0,30}?\b(?:files?|dateien?|fichiers?|archivos?|ficheros?|tests?|passed|passing)\b"
    r"|\b(?:files?|dateien?|tests?)\b[^\n]{0,20}?:[^\n]{0,5}?\d",
    re.IGNORECASE,
)
_RUNS_TESTS = re.compile(
    r"(?:(?:(?:uv|poetry|pdm|hatch|pipenv) run )?(?:\S*python[\d.]* -m )?(?:\S*/)?(?:pytest|unittest|tox|nox)"
    r"|(?:npm|pnpm|yarn|bun)(?: run)? test|(?:npx |bunx )?(?:vitest|jest|mocha)"
    r"|(?:go|cargo|deno|dotnet|swift|mix|mvn|(?:\./)?gradlew?) test|make tests?)(?: [^;&|<>`$\n]*)?"
)
_MAX_CHARACTERS = 20_000
_MAX_FILES = 300
_MAX_LINES = 20_000


def needs_verification(
    state: TaskState, instruction: str, texts: Sequence[str] = (), *, unchanged: bool = False, asked: bool = False
) -> bool:
    """Whether the task changed files since the last verification, or the agents' texts claim so.

    Changes made by a command that your instruction names word for word don't count. `unchanged`: the round was to
    change something, and nothing changed; `asked`: the request undoubtedly asks for a change.
    """
    if unchanged and any(_claims_change(text, asked) for text in texts[-1:]):
        return not any(key.round == state.current_round for key in state.verifications)
    last = _last(state)
    if last is not None and last.get("edits") == count_edits(state):
        return False
    editing = _editing(state)
    if not editing:
        return last is None and any(_MAY_CLAIM.search(text, 0, _MAX_CHARACTERS) for text in texts)
    return any(not _is_instructed(state, call_id, instruction) for call_id in editing)


def _claims_change(text: str, asked: bool) -> bool:
    # Imported on first use: few rounds end without a change.
    from sidecar.verify.work_done import find_claim

    return find_claim(text, asked=asked) != ""


def changed_nothing(state: TaskState) -> bool:
    """Whether this round neither changed a file nor ran a command other than tests."""
    acted = any(
        outcome.status == "success" and not _is_check(call_id) and not is_test_call(state.intents[call_id])
        for call_id, outcome in state.outcomes.items()
        if call_id in state.intents and _is_current(state, call_id)
    )
    return not (acted or has_edits(state))


def tried_to_edit(state: TaskState) -> bool:
    """Whether an agent called a tool that changes files in this round, or asked for one, offered or not."""
    return any(
        call.tool in WRITE or call.tool == SET_MODE
        for key, turn in state.turns.items()
        if key.round == state.current_round
        for call in turn.reply.calls
    )


def test_calls(state: TaskState) -> list[str]:
    """The calls that ran tests in a round that has neither changed a file nor been verified."""
    last = _last(state)
    if any(key.round == state.current_round for key in state.verifications):
        return []
    if count_edits(state) != (last.get("edits", 0) if last is not None else 0):
        return []
    return [
        call_id
        for call_id, intent in state.intents.items()
        if call_id in state.outcomes and not _is_check(call_id) and _is_current(state, call_id) and is_test_call(intent)
    ]


def is_test_call(intent: IntentRecord) -> bool:
    """`run_tests`, or a command that only runs tests: a pipe or a list has the exit code of its last command."""
    return intent.tool == "run_tests" or (
        intent.tool == "run_command" and _RUNS_TESTS.fullmatch(command_text(intent)) is not None
    )


def command_text(intent: IntentRecord) -> str:
    """The command of a call; its line breaks stay, because they separate commands."""
    command = intent.args.get("command")
    text = " ".join(map(str, command)) if isinstance(command, list) else str(command or "")
    return text.strip()


def verification_result(state: TaskState) -> JsonValue:
    """The newest verification, for the task's result; an earlier round's if nothing changed since."""
    last = _last(state)
    if last is None:
        return None
    return {name: last[name] for name in ("passed", "attempt", "checks", "notes") if name != "notes" or last.get(name)}


def _last(state: TaskState) -> dict[str, JsonValue] | None:
    found = list(state.verifications.values())
    return json.loads(found[-1]) if found else None


def changed_files(state: TaskState) -> list[str]:
    """The files that the task changed, without those that only its checks wrote, such as a build."""
    return sorted(
        set(state.files_modified()) - (touched_paths(state, checks=True) - touched_paths(state, checks=False))
    )


def has_edits(state: TaskState) -> bool:
    """Whether an agent changed a file in this round."""
    return any(_is_current(state, call_id) for call_id in _editing(state))


def count_edits(state: TaskState) -> int:
    """The number of calls that changed files, without checks."""
    return len(_editing(state))


def edit_sizes(state: TaskState) -> dict[str, int] | None:
    """Added and removed lines of this round's edits by file, from their records; None if a command edited files too."""
    sizes: dict[str, int] = {}
    for call_id in _editing(state):
        call = CallKey.parse(call_id)
        if call is None or call.step.round != state.current_round:
            continue
        details = state.outcomes[call_id].details
        files = details.get("files") if isinstance(details, dict) else None
        if not isinstance(files, list):
            return None
        for file in files:
            if not isinstance(file, dict) or not isinstance(path := file.get("path"), str):
                return None
            counts = [count for name in ("added", "removed") if isinstance(count := file.get(name), int)]
            sizes[path] = sizes.get(path, 0) + sum(counts)
    return sizes


def touched_paths(state: TaskState, *, checks: bool) -> set[str]:
    return {
        file.path
        for call_id in state.outcomes
        if (files := _files(state, call_id)) and _is_check(call_id) == checks
        for file in files
    }


def original_contents(state: TaskState) -> dict[str, str | None]:
    """Each file that the task touched, with the digest of its content before."""
    originals: dict[str, str | None] = {}
    for call_id in state.outcomes:
        for file in _files(state, call_id):
            originals.setdefault(file.path, file.before)
    return originals


def _editing(state: TaskState) -> list[str]:
    return [call_id for call_id in state.outcomes if _files(state, call_id) and not _is_check(call_id)]


def _is_current(state: TaskState, call_id: str) -> bool:
    call = CallKey.parse(call_id)
    return call is not None and call.step.round == state.current_round


def _is_check(call_id: str) -> bool:
    call = CallKey.parse(call_id)
    return call is not None and call.step.is_verification


def _is_instructed(state: TaskState, call_id: str, instruction: str) -> bool:
    intent = state.intents.get(call_id)
    command = intent.args.get("command") if intent is not None and intent.tool == "run_command" else None
    return isinstance(command, str) and consents(command, instruction)


def _files(state: TaskState, call_id: str) -> list[FileState]:
    """Files that a call changed: a file tool if it succeeded, a command however it ended."""
    intent, outcome = state.intents.get(call_id), state.outcomes[call_id]
    planned = intent.files if intent is not None and outcome.status == "success" else []
    return [*planned, *outcome.files]


async def changed_lines(run: "TaskRun") -> list[str]:
    """`path:3-9,12` for each changed file that still exists, for a review; only the path if the file is new."""
    versions: dict[str, tuple[str | None, str | None]] = {}
    for call_id, intent in run.state.intents.items():
        outcome = run.state.outcomes.get(call_id)
        if outcome is not None and outcome.status == "success":
            for file in intent.files:
                before, _ = versions.get(file.path, (file.before, None))
                versions[file.path] = (before, file.after)
    found = []
    for path, (before, after) in sorted(versions.items())[:_MAX_FILES]:
        if after is None or before == after:
            continue
        old, new = (await run.log.blob(before) if before else None), await run.log.blob(after)
        if old is None or new is None:
            # The old content may have been dropped; then the changed lines are unknown.
            found += [path] if before is None else []
            continue
        if lines := await asyncio.to_thread(_diff_lines, old, new):
            found.append(f"{path}:{lines}")
    return found


def _diff_lines(old: bytes, new: bytes) -> str:
    """New and changed lines, and the places of removed ones, as ranges."""
    before, after = old.splitlines(), new.splitlines()
    if max(len(before), len(after)) > _MAX_LINES:
        return ""
    ranges: list[str] = []
    for tag, _, _, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            first, last = max(1, start + 1 if end > start else start), max(1, end)
            ranges.append(f"{first}-{last}" if last > first else str(first))
    return ",".join(ranges)
