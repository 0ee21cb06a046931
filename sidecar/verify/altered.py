"""What a change did to the tests: which vanished, and which new ones could never fail."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from sidecar.verify.cases import Case, cases
from sidecar.verify.change import Change
from sidecar.verify.result import Finding, looked

#: From here on a new test is taken for an old one that was renamed along with what it tests.
_ALIKE = 0.5
_REMOVAL = re.compile(
    r"\b(?:remove|delete|drop|get rid of|discard|clean ?up|prune|retire|skip|disable)\b"
    r"(?P<what>(?:\s+(?!(?:and|then|so|but|make|run|while)\b)[`'\"]?[\w./()-]+[`'\"]?,?){1,8})",
    re.IGNORECASE,
)
_OTHER_TESTS = re.compile(
    r"\b(?:update|adjust|change|rewrite|adapt|correct|edit|fix|repair)\w*\s+(?:(?!and\b)\w+\s+){0,3}?tests?\b"
    r"|\btests? (?:is|are) wrong\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_COMMON_NAMES = """
the all any its old new this that these those from with for file files code function functions method methods class
module unused dead obsolete deprecated test tests def self assert return import
"""
_COMMON = frozenset(_COMMON_NAMES.split())


class Vanished(NamedTuple):
    """A test that the task removed, or made unable to fail. `how` puts it into words."""

    path: str
    case: Case
    how: str
    #: A new test does much of the same: then the old one may well name what is no longer there.
    renamed: bool = False

    @property
    def name(self) -> str:
        return f"{self.path}::{self.case.name}"


def vanished(changes: Sequence[Change]) -> list[Vanished]:
    after = {change.path: cases(change.path, change.after) for change in changes}
    before = {change.path: cases(change.path, change.before) for change in changes}
    fresh = [case for path, found in after.items() for case in found.values() if case.name not in before[path]]
    gone: list[Vanished] = []
    for path, found in before.items():
        for case in found.values():
            if case.skipped or not case.asserts:
                continue
            now = after[path].get(case.name)
            if now is None:
                if not any(other.text == case.text and not other.skipped for other in fresh):
                    gone.append(Vanished(path, case, "was deleted", _renamed(case, fresh)))
            elif now.skipped:
                gone.append(Vanished(path, case, "is skipped now"))
            elif not now.asserts:
                gone.append(Vanished(path, case, "no longer asserts anything"))
    return gone


def asked_to_remove(request: str, test: Vanished) -> bool:
    """Whether the person's own words ask for the removal: of tests, of this one, or of what it is about."""
    for match in _REMOVAL.finditer(request):
        words = _WORD.findall(match["what"])
        if any(word.lower() in ("test", "tests") for word in words):
            return True
        named = [word for word in words if word.lower() not in _COMMON]
        if any(re.search(rf"\b{re.escape(word)}\b", f"{test.case.text} {test.path}") for word in named):
            return True
    return False


def asked_for_other_tests(request: str) -> bool:
    """Whether the person's own words ask for a change of the tests themselves."""
    return _OTHER_TESTS.search(request) is not None


def rewritten(changes: Sequence[Change]) -> list[Vanished]:
    """Tests that are still there under their name, and no longer do what they did."""
    found = []
    for change in changes:
        after = cases(change.path, change.after)
        for case in cases(change.path, change.before).values():
            now = after.get(case.name)
            if now is not None and case.asserts and not case.skipped and now.asserts and now.text != case.text:
                found.append(Vanished(change.path, case, "was rewritten"))
    return found


def assertions(changes: Sequence[Change]) -> Finding | None:
    """A new test that asserts nothing passes whatever the code does."""
    new: list[tuple[str, Case]] = []
    for change in changes:
        known = cases(change.path, change.before)
        new += [(change.path, case) for name, case in cases(change.path, change.after).items() if name not in known]
    if not new:
        return None
    empty = [(path, case) for path, case in new if not case.asserts and not case.skipped]
    problems = [f"{path}:{case.line}: {case.name} asserts nothing, so it can never fail" for path, case in empty]
    hint = "A test proves something only if it fails when the code is wrong: assert what the code should return or do."
    return looked("assertions", problems, hints=[hint] if problems else [])


def _renamed(case: Case, fresh: Sequence[Case]) -> bool:
    words = set(_WORD.findall(case.text))
    for other in fresh:
        others = set(_WORD.findall(other.text))
        if other.asserts and not other.skipped and len(words & others) >= _ALIKE * len(words | others):
            return True
    return False
