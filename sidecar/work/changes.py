"""What a task has done to files, as its log have it, and whether that was verified.

Asked at the end of every round, so it costs next to nothing; what verifies is loaded when it is needed.
"""

import json
import re
from collections.abc import Sequence

from pydantic import JsonValue

from sidecar.engine.state import TaskState
from sidecar.engine.steps import CallKey
from tools.ledger import FileState
from tools.policy.task_text import names_command

#: Words that may say that a file was written; whether they do is read with care by whoever verifies.
_SAYS_SO = re.compile(
    r"\b(?:created|wrote|written|added|generated|saved|changed|updated|edited|modified|fixed|committed)\b[^\n]{0,200}?\w\.\w"
    r"|\bcommitted\b",
    re.IGNORECASE,
)
_WORDS = 20_000


def needs_verification(memory: TaskState, asked: str, words: Sequence[str] = ()) -> bool:
    """Whether files were changed, or are said to have been, since they were last verified; or a verification of this
    round was under way.

    What the very command did that the person `asked` for, word for word, is no agent's claim.
    """
    if any(key.round == memory.current_round for key in memory.verifications):
        return True
    last = _last(memory)
    if last is not None and last.get("edits") == count_edits(memory):
        return False
    editing = _editing(memory)
    if not editing:
        return last is None and any(_SAYS_SO.search(text, 0, _WORDS) for text in words)
    return any(not _ordered(memory, call_id, asked) for call_id in editing)


def verification_result(memory: TaskState) -> JsonValue:
    """The verification that holds now, as it stands in a task's result; an earlier round's if nothing changed since."""
    last = _last(memory)
    if last is None:
        return None
    return {name: last[name] for name in ("passed", "attempt", "checks", "notes") if name != "notes" or last.get(name)}


def _last(memory: TaskState) -> dict[str, JsonValue] | None:
    found = list(memory.verifications.values())
    return json.loads(found[-1]) if found else None


def changed_files(memory: TaskState) -> list[str]:
    """The files that the task changed; what only its checks have written, such as a build, is not its work."""
    return sorted(
        set(memory.files_modified()) - (touched_paths(memory, checks=True) - touched_paths(memory, checks=False))
    )


def count_edits(memory: TaskState) -> int:
    """How often the task has changed files, its checks not counted."""
    return len(_editing(memory))


def touched_paths(memory: TaskState, *, checks: bool) -> set[str]:
    return {
        file.path
        for call_id in memory.outcomes
        if (files := _files(memory, call_id)) and _is_check(call_id) == checks
        for file in files
    }


def original_contents(memory: TaskState) -> dict[str, str | None]:
    """Each file that the task has touched, with the name of its content before that."""
    originals: dict[str, str | None] = {}
    for call_id in memory.outcomes:
        for file in _files(memory, call_id):
            originals.setdefault(file.path, file.before)
    return originals


def _editing(memory: TaskState) -> list[str]:
    return [call_id for call_id in memory.outcomes if _files(memory, call_id) and not _is_check(call_id)]


def _is_check(call_id: str) -> bool:
    call = CallKey.parse(call_id)
    return call is not None and call.step.is_verification


def _ordered(memory: TaskState, call_id: str, asked: str) -> bool:
    intent = memory.intents.get(call_id)
    command = intent.args.get("command") if intent is not None and intent.tool == "run_command" else None
    return isinstance(command, str) and names_command(command, asked)


def _files(memory: TaskState, call_id: str) -> list[FileState]:
    """What a call did to files: a file tool if it succeeded, a command however it ended."""
    intent, outcome = memory.intents.get(call_id), memory.outcomes[call_id]
    meant = intent.files if intent is not None and outcome.status == "success" else []
    return [*meant, *outcome.files]
