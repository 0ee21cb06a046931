"""The message to the agent after a failed verification, and to you after the last one."""

import re
from collections.abc import Sequence

from sidecar.verify.change import FileVersions, is_code
from sidecar.verify.result import CLAIMS, MEASUREMENTS, Verification
from sidecar.wire.events import Check
from sidecar.wire.text import listed
from tools.test_files import holds_tests
from tools.text import first_words

#: Attempts in total, the first one included.
ATTEMPTS = 3
_IMPORT = re.compile(
    r"(?:ModuleNotFoundError|ImportError|Cannot find module|cannot import name|unresolved import|could not import)"
    r"[^\n'\"`]*['\"`]?(?P<name>[\w./@-]*)"
)
_NAME = re.compile(r"NameError: name '(\w+)'|ReferenceError: (\w+) is not defined|(?<!\w)undefined: (\w+)")
#: Checks of the report alone.
_REPORT = (CLAIMS, MEASUREMENTS)
_MAX_HINTS = 8
_MAX_FILES = 20
_MAX_COMMAND = 200


def render_failure(failed: Verification, changed: Sequence[str]) -> str:
    """The message that asks an agent to fix a failed verification."""
    only_claims = all(check.name in _REPORT for check in failed.failed)
    parts = [
        "Your report doesn't match what is there." if only_claims else "Your work was checked, and it doesn't pass."
    ]
    if changed:
        parts.append(f"Files changed by this task so far: {listed(changed, _MAX_FILES)}.")
    for check in failed.failed:
        ran = f" (`{first_words(check.command, _MAX_COMMAND)}`, exit code {check.exit_code})" if check.command else ""
        parts.append(f"Failed: {check.name}{ran}\n{check.evidence}".rstrip())
    if failed.notes:
        parts.append("Also known:\n" + "\n".join(f"- {note}" for note in failed.notes))
    if failed.hints and not only_claims:
        parts.append("Hints:\n" + "\n".join(f"- {hint}" for hint in failed.hints))
    whole = "report the whole work in a few sentences: this report replaces the earlier one."
    if only_claims:
        parts.append(f"Do what is missing, if anything is; then {whole}")
    else:
        parts.append(
            "Fix the cause, in whatever file it is; don't delete, skip or weaken tests. The same checks run again, "
            f"whatever you say. Then {whole}"
        )
    return "\n\n".join(parts)


def make_hints(
    checks: Sequence[Check],
    given: Sequence[str],
    changes: Sequence[FileVersions],
    earlier: Sequence[Verification],
    state: str,
) -> list[str]:
    """`given` are hints of the checks themselves; `earlier` are the failed attempts, oldest first."""
    failed = [check for check in checks if not check.passed]
    output = "\n".join(check.evidence for check in failed)
    found = [*_repeated(failed, earlier, state), *given, *_missing(output), *_tests_or_code(failed, output, changes)]
    if any(check.name == "syntax" for check in failed):
        found.append("A file no longer parses. Read it around the named line and fix that first.")
    if any(check.name == "types" for check in failed):
        found.append("The type checker reports more than before. Fix the types; don't silence it.")
    return list(dict.fromkeys(found))[:_MAX_HINTS]


def render_escalation(failed: Verification, earlier: Sequence[Verification], why: str = "") -> str:
    """Why the task needs you."""
    tried = len(earlier) + 1
    times = "once" if tried == 1 else f"{tried} times"
    text = f"Tried {times}, and the result does not pass: {failed.error}."
    if _attempt_with(earlier, failed.state) is not None:
        text += " The last attempt made the same change as an earlier one."
    return f"{text} {why}".strip() + " All changes are kept."


def suggest_next(failed: Verification, changed: Sequence[str]) -> list[str]:
    check = failed.failed[0] if failed.failed else None
    about = (
        f" ({first_words(check.evidence.partition(chr(10))[0], 160)})" if check is not None and check.evidence else ""
    )
    by_hand = f"Fix it by hand: edit {', '.join(changed[:5]) or 'the workspace'}"
    if check is not None and check.command:
        by_hand += f"; `{check.command}` shows the problem"
    return [
        "Simplify: send this task a message that asks for one smaller part first.",
        f"Give more context: send a message that says what should happen where it fails{about}, or in which file.",
        f"{by_hand}. Then resume the task, and the checks run again.",
        "Undo: rewind the task to before the change.",
    ]


def _attempt_with(earlier: Sequence[Verification], state: str) -> int | None:
    """The earlier attempt after which the files were exactly as they are now."""
    return next((each.attempt for each in earlier if each.state == state), None)


def _repeated(failed: Sequence[Check], earlier: Sequence[Verification], state: str) -> list[str]:
    if not earlier or all(check.name in _REPORT for check in failed):
        return []
    attempt = _attempt_with(earlier, state)
    if attempt is not None:
        return [
            f"The files are exactly as they were after attempt {attempt}, which failed in the same way. That approach "
            "doesn't work: find another cause and change something else."
        ]
    before = {_essence(check) for check in earlier[-1].failed}
    if before & {_essence(check) for check in failed}:
        return [
            "This is the same error as after the previous attempt, so the last change missed its cause. Read the code "
            "on the way to the failing line before you change anything else."
        ]
    return []


def _essence(check: Check) -> tuple[str, str]:
    """An error without the parts that differ from run to run."""
    first = check.evidence.partition("\n")[0]
    return check.name.partition(",")[0], re.sub(r"0x[0-9a-f]+|\d+\.\d+s|:\d+", "", first)


def _missing(output: str) -> list[str]:
    if match := _IMPORT.search(output):
        name = match["name"] or "a module"
        return [f"Importing {name} fails: is the file written, the name spelled right, the package installed?"]
    if match := _NAME.search(output):
        name = next(group for group in match.groups() if group)
        return [f"{name} is used but not defined: define it or import it."]
    return []


def _tests_or_code(failed: Sequence[Check], output: str, changes: Sequence[FileVersions]) -> list[str]:
    if not any("tests" in check.name and check.name != "removed tests" for check in failed):
        return []
    tests = [change.path for change in changes if holds_tests(change.path)]
    code = [change.path for change in changes if is_code(change.path) and not holds_tests(change.path)]
    failing = [path for path in tests if path in output]
    if tests and not code:
        return ["You changed only tests and no code: if the code is wrong, fix the code."]
    if failing:
        return [f"You changed {failing[0]} along with the code: decide by the request which of the two is wrong."]
    return ["The failing tests are unchanged since before the task: fix the code, not the tests."] if code else []
