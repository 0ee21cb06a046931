"""Who uses a definition, as surely as its language lets one know without running it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from tools.code.bindings import Binding, bindings, reexported
from tools.code.definitions import Definition
from tools.code.files import is_test
from tools.code.modules import Modules
from tools.code.names import in_import, is_key, is_member, names, receiver_of
from tools.code.receivers import belongs
from tools.code.source import SCRIPT, Source, ancestors, defined_by, qualified, text

if TYPE_CHECKING:
    from tree_sitter import Node

Use = Literal["call", "import", "base", "name"]
#: How often a name may be handed on from module to module.
_HANDED_ON = 6
_TITLED = frozenset({"it", "test", "describe"})
_CALLING = frozenset({"jsx_self_closing_element", "jsx_opening_element", "decorator"})


class Usage(NamedTuple):
    path: str
    line: int
    #: The definition that it stands in: `Class.method`; nothing at the top of a module.
    within: str
    use: Use
    #: False where only the name is the same, and what it belongs to is not known.
    sure: bool = True

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


class Exports:
    """Under which names a definition can be imported, and from which files."""

    def __init__(self, definition: Definition, sources: Mapping[str, Source], modules: Modules) -> None:
        self._names: dict[str, set[str]] = {definition.path: {definition.name}}
        if definition.default:
            self._names[definition.path].add("default")
        self._bindings: dict[str, list[Binding]] = {
            path: bindings(source, modules) for path, source in sources.items() if source.scoped
        }
        for _ in range(_HANDED_ON):
            if not self._spread(sources):
                break

    def _spread(self, sources: Mapping[str, Source]) -> bool:
        """One more step of files that hand it on."""
        more = False
        for path, bound in self._bindings.items():
            for each in bound:
                for name in self._meant(each):
                    local = name if each.name == "*" else each.local
                    exported = each.exported or (
                        sources[path].kind in SCRIPT and each.local and reexported(sources[path], each.local)
                    )
                    if exported and local not in self._names.setdefault(path, set()):
                        self._names[path].add(local)
                        more = True
        return more

    def _meant(self, binding: Binding) -> Iterable[str]:
        known = self._names.get(binding.file or "", set())
        if binding.name == "*":
            return {name for name in known if name != "default"}
        return {binding.name} if binding.name in known else ()

    def names(self) -> dict[str, set[str]]:
        """The files that can be asked for it, each with the names that it goes by there."""
        return self._names

    def locals(self, path: str) -> dict[str, set[int]]:
        """The names by which a file knows it, with the lines of their imports."""
        found: dict[str, set[int]] = {}
        for each in self._bindings.get(path, ()):
            for name in self._meant(each):
                found.setdefault(name if each.name == "*" else each.local, set()).add(each.line)
        return found

    def members(self, path: str) -> dict[str, set[str]]:
        """The modules that a file knows it through: `module.name`."""
        return {
            each.local: self._names[each.file]
            for each in self._bindings.get(path, ())
            if each.name is None and each.file in self._names and each.local
        }


def usages(
    definition: Definition, others: Sequence[Definition], sources: Mapping[str, Source], modules: Modules
) -> list[Usage]:
    """`others` are the definitions of the same name; `sources` the files in which the name stands."""
    found: list[Usage] = []
    if definition.owner:
        for source in sources.values():
            found += _of_member(definition, others, source)
    elif definition.language in SCRIPT or definition.language == "Python":
        exports = Exports(definition, sources, modules)
        for source in sources.values():
            if source.scoped:
                found += _of_name(definition, source, exports)
    else:
        for source in sources.values():
            if source.kind == definition.language:
                found += _by_name(definition, source)
    return sorted(set(found))


def _of_name(definition: Definition, source: Source, exports: Exports) -> Iterator[Usage]:
    if source.path == definition.path:
        for name in names(source, definition.name):
            if name.scope == definition.scope and not _is_definition(name.node, source):
                yield _usage(name.node, source)
        return
    if definition.scope is not None:
        return
    for local, lines in exports.locals(source.path).items():
        yield from (Usage(source.path, line, "", "import") for line in sorted(lines))
        here = list(names(source, local))
        # An import holds where it stands: at the top of the module, or in one function.
        imported = {each.scope for each in here if _import_line(each.node) in lines} or {None}
        for name in here:
            if name.scope in imported and not in_import(name.node):
                yield _usage(name.node, source)
    for module, known in exports.members(source.path).items():
        for exported in known:
            for node in source.named(exported):
                if is_member(node) and receiver_of(node) == module:
                    yield _usage(node, source)


def _import_line(node: "Node") -> int:
    """The line of the import that a name stands in; nothing for any other name."""
    kinds = ("import_statement", "import_from_statement", "lexical_declaration", "variable_declaration")
    whole = next((above for above in ancestors(node) if above.type in kinds), None)
    return whole.start_point[0] + 1 if whole is not None else 0


def _of_member(definition: Definition, others: Sequence[Definition], source: Source) -> Iterator[Usage]:
    if source.language is None or not _related(source.kind, definition.language):
        return
    rivals = {each.owner for each in others if each.owner} - {definition.owner}
    for node in source.named(definition.name):
        if _is_definition(node, source) or is_key(node):
            continue
        if not source.scoped:
            yield _usage(node, source, sure=False)
        elif is_member(node):
            verdict = belongs(node, definition, rivals, source)
            if verdict is not None:
                yield _usage(node, source, sure=verdict)


def _by_name(definition: Definition, source: Source) -> Iterator[Usage]:
    for node in source.named(definition.name):
        if not _is_definition(node, source):
            yield _usage(node, source, sure=False)


def _related(one: str, other: str) -> bool:
    return one == other or (one in SCRIPT and other in SCRIPT)


def _is_definition(node: "Node", source: Source) -> bool:
    assert source.language is not None
    if defined_by(node, source.language) is not None:
        return True
    return (
        node.parent is not None and node.parent.type == "assignment" and node.parent.child_by_field_name("left") == node
    )


def _usage(node: "Node", source: Source, *, sure: bool = True) -> Usage:
    assert source.language is not None
    parent = node.parent if not is_member(node) or node.parent is None else node.parent.parent
    use: Use = "name"
    if in_import(node):
        use = "import"
    elif parent is not None and _is_called(node, parent, source):
        use = "call"
    elif _is_base(node):
        use = "base"
    within = qualified(node, source.language)
    if not within and source.kind in SCRIPT and is_test(source.path):
        within = _title(node)
    return Usage(source.path, node.start_point[0] + 1, within, use, sure)


def _is_called(node: "Node", parent: "Node", source: Source) -> bool:
    assert source.language is not None
    if parent.type in _CALLING:
        return True
    part = source.language.calls.get(parent.type)
    target = parent.child_by_field_name(part) if part else None
    return target is not None and target.end_byte == node.end_byte


def _is_base(node: "Node") -> bool:
    """Whether a class extends it."""
    kinds = [above.type for above, _ in zip(ancestors(node), range(4), strict=False)]
    return "class_heritage" in kinds or kinds[:2] == ["argument_list", "class_definition"]


def _title(node: "Node") -> str:
    """A test of a script has no name but a title: `it "adds"`."""
    for above in ancestors(node):
        if above.type == "call_expression":
            function = text(above.child_by_field_name("function")).partition(".")[0]
            arguments = above.child_by_field_name("arguments")
            first = arguments.named_children[0] if arguments is not None and arguments.named_children else None
            if function in _TITLED and first is not None and first.type == "string":
                return f"{function} {text(first)}"
    return ""
