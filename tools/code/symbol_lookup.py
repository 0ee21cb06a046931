"""Choose the symbol that a name means, perhaps with a file and a line, or list the candidates."""

import posixpath

from sidecar.wire.text import bulleted
from tools.code.classes import ClassIndex
from tools.code.project import Project, Refusal
from tools.code.references import find_references
from tools.code.scopes import BindingRef, FileScopes
from tools.code.symbols import Symbol, symbols_named

_SHOWN = 12


def find_symbol(name: str, project: Project, path: str | None = None, line: int | None = None) -> Symbol:
    container, _, word = name.rpartition(".")
    symbols = [
        each for each in symbols_named(word, project.files) if not container or _inside(each, container, project)
    ]
    if path is not None:
        symbols = _in_path(symbols, word, container, project, path, line)
    symbols = _outermost(symbols) if line is None else symbols
    if container and line is None:
        # Names of a function itself come before those of its comprehensions and blocks.
        symbols = [each for each in symbols if _direct(each)] or symbols
    symbols = _without_stubs(symbols)
    if not symbols:
        raise Refusal("no_match", _missing(name, project, path, line))
    if len(symbols) > 1:
        symbols = _families(symbols, project)
    if len(symbols) > 1:
        raise Refusal("ambiguous", _several(name, symbols), {"candidates": [each.details for each in symbols]})
    return symbols[0]


def find_counterparts(symbol: Symbol, project: Project) -> list[Symbol]:
    """The same symbol in the stub of its file (`.pyi`, `.d.ts`), or in the file of its stub."""
    stem = _stem(symbol.path)
    return [
        each
        for each in symbols_named(symbol.name, project.files)
        if each.path != symbol.path and _stem(each.path) == stem and _is_counterpart(each, symbol)
    ]


def _is_counterpart(one: Symbol, other: Symbol) -> bool:
    return one.qualified_name == other.qualified_name and _is_stub(one.path) != _is_stub(other.path)


def _without_stubs(symbols: list[Symbol]) -> list[Symbol]:
    """Drop declarations of symbols that have a definition."""
    return [
        each
        for each in symbols
        if not _is_stub(each.path)
        or not any(_stem(other.path) == _stem(each.path) and _is_counterpart(each, other) for other in symbols)
    ]


def _is_stub(path: str) -> bool:
    return path.endswith((".pyi", ".d.ts", ".d.mts", ".d.cts"))


def _stem(path: str) -> str:
    folder, name = posixpath.split(path)
    stem = name.partition(".d.")[0] if _is_stub(path) and not path.endswith(".pyi") else name.rpartition(".")[0]
    return posixpath.join(folder, stem)


def _inside(symbol: Symbol, container: str, project: Project) -> bool:
    wanted, has = container.split("."), symbol.containers
    if has[-len(wanted) :] == wanted:
        return True
    module = project.modules.python_name(symbol.path) if symbol.path.endswith((".py", ".pyi")) else ""
    whole = [*(module.split(".") if module else [posixpath.basename(symbol.path).partition(".")[0]]), *has]
    return whole[-len(wanted) :] == wanted


def _direct(symbol: Symbol) -> bool:
    return not symbol.bindings or symbol.bindings[0].scope.owner is not None


def _outermost(symbols: list[Symbol]) -> list[Symbol]:
    """Drop locals and aliases if there are other symbols."""
    for kinds in (("local variable", "parameter", "local function", "alias"), ("alias",)):
        greater = [each for each in symbols if each.kind not in kinds]
        if greater:
            return greater
    return symbols


def _in_path(
    symbols: list[Symbol], word: str, container: str, project: Project, path: str, line: int | None
) -> list[Symbol]:
    inside = [each for each in symbols if each.path == path or each.path.startswith(f"{path.rstrip('/')}/")]
    if path in (".", ""):
        inside = symbols
    file = project.files.get(path)
    if file is None:
        return inside if line is None else [each for each in inside if each.line == line]
    if line is not None:
        return [each for each in inside if _written_at(each, project, line)] or _at_line(word, project, file, line)
    if inside:
        return inside
    imported = [each for each in file.bindings if each.name == word and each.imported is not None]
    meanings = [project.meaning(each, file) for each in imported]
    targets = {meaning.binding for meaning in meanings if isinstance(meaning, BindingRef)}
    return [each for each in symbols if set(each.bindings) & targets]


def _written_at(symbol: Symbol, project: Project, line: int) -> bool:
    if symbol.is_member and symbol.owner is not None:
        body = ClassIndex(project).body(symbol.owner)
        if body is not None and any(place.line == line for place in body.members.get(symbol.name, ())):
            return True
    return any(place.line == line for binding in symbol.bindings for place in binding.places)


def _at_line(word: str, project: Project, file: FileScopes, line: int) -> list[Symbol]:
    """Return the symbol that a line uses, wherever it is defined."""
    for symbol in symbols_named(word, project.files):
        found = find_references(symbol, project)
        if any(each.path == file.path and each.place.line == line for each in found.certain):
            return [symbol]
    return []


def _families(symbols: list[Symbol], project: Project) -> list[Symbol]:
    """Treat methods that override each other as one symbol."""
    first = symbols[0]
    if not first.is_member:
        return symbols
    family = find_references(first, project).family
    return [first] if all(each.owner in family and each.is_member for each in symbols) else symbols


def _several(name: str, symbols: list[Symbol]) -> str:
    lines = [f"{each.path}:{each.line} {each.kind} {each.qualified_name}" for each in symbols]
    return "\n".join(
        [
            f"{len(symbols)} symbols are named {name}; nothing was changed. Pick one by file and line"
            " (or as Class.name, function.name):",
            *bulleted(lines, _SHOWN),
        ]
    )


def _missing(name: str, project: Project, path: str | None, line: int | None) -> str:
    where = f" in {path}" if path else ""
    where += f" at line {line}" if line is not None else ""
    broken = [f"{file} was skipped: {why}" for file, why in sorted(project.skipped.items())[:3]]
    also = f" {'; '.join(broken)}." if broken else ""
    return f"Nothing named {name} is defined{where or ' in this workspace'}; nothing was changed.{also}"
