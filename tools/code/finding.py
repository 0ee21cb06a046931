"""Which symbol is meant by a name, perhaps with a file and a line. Where several could be, all are named instead."""

import posixpath
from collections.abc import Iterator

from sidecar.wire.base import JsonObject
from tools.code.members import ClassKey, Members
from tools.code.places import places_of
from tools.code.project import Named, Project, exported
from tools.code.scopes import Binding, FileScopes
from tools.code.symbols import Symbol

_SHOWN = 12


class Refusal(Exception):
    """It is not done, and this is why; nothing was changed."""

    def __init__(self, code: str, message: str, details: JsonObject | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


def found_symbol(name: str, project: Project, path: str | None = None, line: int | None = None) -> Symbol:
    container, _, word = name.rpartition(".")
    symbols = [each for each in _symbols(word, project) if not container or _inside(each, container, project)]
    if path is not None:
        symbols = _in_path(symbols, word, container, project, path, line)
    symbols = _outermost(symbols) if line is None else symbols
    if container and line is None:
        # What a function itself declares comes before what a comprehension or a block in it does.
        symbols = [each for each in symbols if _direct(each)] or symbols
    if not symbols:
        raise Refusal("no_match", _missing(name, project, path, line))
    if len(symbols) > 1:
        symbols = _families(symbols, project)
    if len(symbols) > 1:
        raise Refusal("ambiguous", _several(name, symbols), {"candidates": [describe(each) for each in symbols]})
    return symbols[0]


def shown(symbol: Symbol) -> str:
    return f"{symbol.path}:{symbol.line} {symbol.kind} {qualified(symbol)}"


def describe(symbol: Symbol) -> JsonObject:
    return {"path": symbol.path, "line": symbol.line, "kind": symbol.kind, "name": qualified(symbol)}


def qualified(symbol: Symbol) -> str:
    names = [*_container(symbol), symbol.name]
    return ".".join(names)


def _container(symbol: Symbol) -> list[str]:
    if symbol.bindings:
        return _owners(symbol.bindings[0])
    return [*_owners(symbol.owner.binding), symbol.owner.binding.name] if symbol.owner is not None else []


def _owners(binding: Binding) -> list[str]:
    names: list[str] = []
    scope = binding.scope
    while scope is not None:
        if scope.owner is not None and scope.owner.name:
            names.insert(0, scope.owner.name)
        if scope.parent is None:
            break
        scope = scope.parent
    return names


def _inside(symbol: Symbol, container: str, project: Project) -> bool:
    wanted, has = container.split("."), _container(symbol)
    if has[-len(wanted) :] == wanted:
        return True
    module = project.modules.python_name(symbol.path) if symbol.path.endswith((".py", ".pyi")) else ""
    whole = [*(module.split(".") if module else [posixpath.basename(symbol.path).partition(".")[0]]), *has]
    return whole[-len(wanted) :] == wanted


def _direct(symbol: Symbol) -> bool:
    return not symbol.bindings or symbol.bindings[0].scope.owner is not None


# -- everything of that name -------------------------------------------------------------------------------------------


def _symbols(name: str, project: Project) -> Iterator[Symbol]:
    for path, file in sorted(project.files.items()):
        taken: set[Binding] = set()
        for binding in file.bindings:
            if binding.name == name and binding not in taken and (binding.imported is None or binding.imported.aliased):
                together = _together(binding, file)
                taken.update(together)
                yield _symbol(path, together, file)
        for body in file.classes:
            in_scope = body.scope.kind == "class" and name in body.scope.values
            if name in body.members and not in_scope and body.binding.name:
                lines = [place.line for place in body.members[name]]
                kind = "method" if name in body.methods else "attribute"
                yield Symbol(path, name, min(lines), kind, owner=ClassKey(path, body.binding))


def _together(binding: Binding, file: FileScopes) -> tuple[Binding, ...]:
    """A type and a value that are exported under one name are renamed as one."""
    scope, name = binding.scope, binding.name
    twins = {each for each in (scope.values.get(name), scope.types.get(name)) if each is not None}
    if len(twins) == 2 and scope is file.module and exported(file, name) is not None:
        return tuple(sorted(twins, key=lambda each: each.line))
    return (binding,)


def _symbol(path: str, bindings: tuple[Binding, ...], file: FileScopes) -> Symbol:
    first = bindings[0]
    scope = first.scope
    if scope.kind == "class" and scope.owner is not None:
        member = {"function": "method", "class": "class"}.get(first.kind, "attribute")
        return Symbol(path, first.name, first.line, member, bindings, ClassKey(path, scope.owner))
    owner: ClassKey | None = None
    method: str | None = None
    function = scope.owner
    if first.kind == "parameter" and function is not None and function.scope.kind == "class" and function.scope.owner:
        owner, method = ClassKey(path, function.scope.owner), function.name
    kind: str = "alias" if first.imported is not None else first.kind
    if kind in ("variable", "function") and scope is not file.module:
        kind = f"local {kind}"
    return Symbol(path, first.name, first.line, kind, bindings, owner, method)


# -- the one that is meant ---------------------------------------------------------------------------------------------


def _outermost(symbols: list[Symbol]) -> list[Symbol]:
    """Locals of the same name are meant only where nothing greater is."""
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
    targets = {meaning.binding for meaning in meanings if isinstance(meaning, Named)}
    return [each for each in symbols if set(each.bindings) & targets]


def _written_at(symbol: Symbol, project: Project, line: int) -> bool:
    if symbol.owner is not None and symbol.method is None:
        body = Members(project).body(symbol.owner)
        if body is not None and any(place.line == line for place in body.members.get(symbol.name, ())):
            return True
    return any(place.line == line for binding in symbol.bindings for place in binding.places)


def _at_line(word: str, project: Project, file: FileScopes, line: int) -> list[Symbol]:
    """The symbol that a line uses, wherever it is defined."""
    for symbol in _symbols(word, project):
        found = places_of(symbol, project)
        if any(written.place.line == line for written in found.places.get(file.path, ())):
            return [symbol]
    return []


def _families(symbols: list[Symbol], project: Project) -> list[Symbol]:
    """Methods that override each other are one symbol."""
    first = symbols[0]
    if first.owner is None or first.method is not None:
        return symbols
    family = places_of(first, project).family
    return [first] if all(each.owner in family and each.method is None for each in symbols) else symbols


def _several(name: str, symbols: list[Symbol]) -> str:
    lines = [f"- {shown(each)}" for each in symbols[:_SHOWN]]
    more = [f"- … {len(symbols) - _SHOWN} more"] if len(symbols) > _SHOWN else []
    return "\n".join(
        [
            f"{len(symbols)} things are named {name}; nothing was changed. Say which one by file and line"
            " (or as Class.name, function.name):",
            *lines,
            *more,
        ]
    )


def _missing(name: str, project: Project, path: str | None, line: int | None) -> str:
    where = f" in {path}" if path else ""
    where += f" at line {line}" if line is not None else ""
    broken = [f"{file} was not looked at: {why}" for file, why in sorted(project.left_alone.items())[:3]]
    also = f" {'; '.join(broken)}." if broken else ""
    return f"Nothing named {name} is defined{where or ' in this workspace'}; nothing was changed.{also}"
