"""Changed code that no test reaches by its imports."""

from collections.abc import Sequence

from tools.code.files import is_test
from tools.code.graph import Graph
from tools.code.outline import Symbol, outlined
from tools.code.review import Finding, Subject

_FAR = 3
_EACH = 4
_FIX = "add a test that calls it."


def untested(subjects: Sequence[Subject], graph: Graph, files: Sequence[str]) -> list[Finding]:
    """Said of whole files: whether a test is any good cannot be seen from here."""
    if not any(is_test(path) for path in files):
        return []  # a project without tests knows it
    bare = [subject for subject in subjects if _is_bare(subject, graph)]
    changed = [(subject, name) for subject in bare if (name := _changed(subject))]
    if len(changed) > _EACH:
        names = ", ".join(f"`{subject.path}`" for subject, _ in changed[:_EACH])
        message = f"{len(changed)} files with changed functions are imported by no test, directly or not: {names}, …"
        return [Finding(changed[0][0].path, 0, "hint", message, "add tests that call what changed.")]
    return [
        Finding(subject.path, symbol.line, "hint", f"No test imports this file, so `{symbol.name}` is untested.", _FIX)
        for subject, symbol in changed
    ]


def _is_bare(subject: Subject, graph: Graph) -> bool:
    if is_test(subject.path) or not subject.source.scoped or subject.path.endswith("__init__.py"):
        return False
    return not any(is_test(path) for level in graph.affected(subject.path, _FAR) for path in level)


def _changed(subject: Subject) -> Symbol | None:
    """The first function of the file that changed."""
    outline = outlined(subject.path, subject.content)
    for symbol in outline.symbols if outline else []:
        within = subject.lines is None or any(symbol.line <= line <= symbol.end_line for line in subject.lines)
        if symbol.complexity is not None and within:
            return symbol
    return None
