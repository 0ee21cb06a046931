"""Where documents surely name a symbol: behind its module or class, or in code if nothing else has its name."""

import re
from collections.abc import Collection

from tools.code.project import Project
from tools.code.symbols import References, Symbol, symbols_named

_DOCUMENTS = (".md", ".rst", ".txt", ".adoc", ".mdx")
_QUALIFIER = re.compile(rb"(?<![\w.])((?:\w+\.)*\w+)\.\Z")
_FENCE = re.compile(rb"^([ \t]*)(```+|~~~+)[^\n]*\n.*?^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)
#: Lines of a document that are code: doctests, and directives that take names from a module.
_CODE_LINE = re.compile(rb"[ \t]*(?:>>> |\.\.\. |\.\. (?:py:)?(?:auto)?\w+:: |:members: )")
#: How far a dotted name reaches back.
_REACH = 200
_LOCAL = ("local variable", "local function", "parameter")


def is_document(path: str) -> bool:
    return path.lower().endswith(_DOCUMENTS)


class DocumentedNames:
    """Decides which words of documents are the symbol that a rename changes."""

    def __init__(self, symbol: Symbol, found: References, project: Project) -> None:
        self._name = symbol.name.encode()
        self._qualifiers = _qualifiers(symbol, found, project)
        self._alone = _has_name_alone(symbol, found, project)

    def spans(self, text: bytes) -> list[tuple[int, int]]:
        word = re.compile(rb"(?<![\w$])" + re.escape(self._name) + rb"(?![\w$])")
        fences = [match.span() for match in _FENCE.finditer(text)]
        return [match.span() for match in word.finditer(text) if self._is_meant(text, *match.span(), fences)]

    def _is_meant(self, text: bytes, start: int, end: int, fences: Collection[tuple[int, int]]) -> bool:
        before, after = text[max(0, start - _REACH) : start], text[end : end + 1]
        if before.endswith(b"."):
            qualifier = _QUALIFIER.search(before)
            return qualifier is not None and qualifier[1].decode(errors="replace").split(".")[-1] in self._qualifiers
        quoted = before.endswith((b"`", b"`~")) and after in (b"`", b"(")
        coded = _CODE_LINE.match(text, text.rfind(b"\n", 0, start) + 1) is not None
        return self._alone and (quoted or coded or any(first < start < last for first, last in fences))


def _qualifiers(symbol: Symbol, found: References, project: Project) -> set[str]:
    """The names behind which documents write the symbol: its classes, or the modules that will export the new name."""
    if symbol.is_member:
        return {symbol.containers[-1], *(key.binding.name for key in found.family)}
    paths = [symbol.path, *(path for path, binding in found.bindings if binding.scope.kind == "module")]
    names = set()
    for path in paths:
        if path.endswith((".py", ".pyi")):
            names.add(project.modules.python_name(path).rpartition(".")[2])
        else:
            folder, _, name = path.rpartition("/")
            stem = name.partition(".")[0]
            names.add(folder.rpartition("/")[2] if stem == "index" else stem)
    return names - {""}


def _has_name_alone(symbol: Symbol, found: References, project: Project) -> bool:
    """Whether the rename takes this name from everything in the project that documents may mean."""
    renamed = {*symbol.bindings, *(binding for _, binding in found.bindings)}
    family = {symbol.owner, *found.family}
    for each in symbols_named(symbol.name, project.files):
        if each.kind in _LOCAL or renamed.intersection(each.bindings):
            continue
        if not (symbol.is_member and each.is_member and each.owner in family):
            return False
    return True
