"""What a failure looks like, from failures seen before: a few sentences that help with the next attempt."""

import re
from collections.abc import Sequence

from sidecar.verify.change import Change, is_code, is_test
from sidecar.verify.result import Checked
from sidecar.wire.events import Check

_IMPORT = re.compile(
    r"(?:ModuleNotFoundError|ImportError|Cannot find module|cannot import name|unresolved import|could not import)"
    r"[^\n'\"`]*['\"`]?(?P<name>[\w./@-]*)"
)
_NAME = re.compile(r"NameError: name '(\w+)'|ReferenceError: (\w+) is not defined|undefined: (\w+)")
_MOST = 8


def hints(
    checks: Sequence[Check], given: Sequence[str], changes: Sequence[Change], earlier: Sequence[Checked], state: str
) -> list[str]:
    """`given` are the hints of the checks themselves; `earlier` the failed attempts, oldest first."""
    failed = [check for check in checks if not check.passed]
    told = "\n".join(check.evidence for check in failed)
    found = [*_repeated(failed, earlier, state), *given, *_missing(told), *_tests_or_code(failed, told, changes)]
    if any(check.name == "syntax" for check in failed):
        found.append("A file can no longer be parsed. Read it around the line that is named, and mend it first.")
    if any(check.name == "types" for check in failed):
        found.append("The type checker finds more than before. Mend the types; do not silence it.")
    return list(dict.fromkeys(found))[:_MOST]


def same_approach(earlier: Sequence[Checked], state: str) -> int | None:
    """After which attempt the files were already as they are now."""
    return next((checked.attempt for checked in earlier if checked.state == state), None)


def _repeated(failed: Sequence[Check], earlier: Sequence[Checked], state: str) -> list[str]:
    if not earlier:
        return []
    attempt = same_approach(earlier, state)
    if attempt is not None:
        return [
            f"The files are exactly as they were after attempt {attempt}, which failed in the same way. That approach "
            "does not work: find another cause, and change something else."
        ]
    before = {_essence(check) for check in earlier[-1].failed}
    if before & {_essence(check) for check in failed}:
        return [
            "It is the same error as after the attempt before, so the last change did not reach its cause. Read the "
            "code on the way to the failing line before you change anything else."
        ]
    return []


def _essence(check: Check) -> tuple[str, str]:
    """An error without what differs from run to run."""
    first = check.evidence.partition("\n")[0]
    return check.name.partition(",")[0], re.sub(r"0x[0-9a-f]+|\d+\.\d+s|:\d+", "", first)


def _missing(told: str) -> list[str]:
    if match := _IMPORT.search(told):
        name = match["name"]
        what = f"{name} cannot be imported" if name else "Something cannot be imported"
        return [f"{what}: is the file written, the name spelt as it is defined, the package installed?"]
    if match := _NAME.search(told):
        name = next(group for group in match.groups() if group)
        return [f"{name} is used and not defined: define it, or import it."]
    return []


def _tests_or_code(failed: Sequence[Check], told: str, changes: Sequence[Change]) -> list[str]:
    if not any("tests" in check.name and check.name != "vanished tests" for check in failed):
        return []
    tests = [change.path for change in changes if is_test(change.path)]
    code = [change.path for change in changes if is_code(change.path) and not is_test(change.path)]
    mine = [path for path in tests if path in told]
    if tests and not code:
        return ["Only tests were changed, and no code: if the code is wrong, mend the code."]
    if mine:
        return [f"{mine[0]} was changed along with the code: decide by what was asked which of the two is wrong."]
    return ["The failing tests are as they were before the task: mend the code, not the tests."] if code else []
