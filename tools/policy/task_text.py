"""What a task asks for literally needs no further approval."""

import re

#: The end of a command: no further option or word follows.
_END = r"(?![\w/-]| +-)"
_DOUBTS = re.compile(
    r"\b(?:not|never|avoid|without|don't|doesn't|instead of|what (?:does|is|do)|why|explain)\b", re.IGNORECASE
)
_TESTS = re.compile(
    r"(?:\b(?:run|execute|start|launch|do|check|rerun)\s+(?:[\w'-]+\s+){0,4}?(?:tests?|test\s*suite|specs?)\b)"
    r"|^\s*(?:pytest|npm test|make test|cargo test|go test|tests?)\s*[.!]*\s*$",
    re.IGNORECASE,
)


def names_command(command: str, task_text: str) -> bool:
    """Whether the task asks to run exactly this command, rather than to explain or avoid it.

    A single word may be prose, so it must be quoted or follow "run" or "execute".
    """
    if not command.strip() or not task_text:
        return False
    words = re.escape(command.strip())
    alone = re.search(r"\s", command.strip()) is None
    quoted = rf"`{words}`|\"{words}\"|'{words}'|\b(?:run|execute)[: ]+{words}{_END}"
    pattern = quoted if alone else rf"{quoted}|(?<![\w./-]){words}{_END}"
    for match in re.finditer(pattern, task_text, re.IGNORECASE):
        if not _DOUBTS.search(task_text[max(match.start() - 30, 0) : match.end()].replace(command, "")):
            return True
    return False


def asks_for_tests(task_text: str) -> bool:
    """Whether the task asks to run the tests."""
    return any(
        not _DOUBTS.search(task_text[max(match.start() - 30, 0) : match.end()]) for match in _TESTS.finditer(task_text)
    )
