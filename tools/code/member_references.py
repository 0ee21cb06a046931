"""References to a member of a class."""

import builtins
import importlib
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from tools.code.lookups import SCRIPT_METHODS, note_risks
from tools.code.mentions import PathMention, attribute_mentions, path_mentions, quoted_paths
from tools.code.scopes import BindingRef, ClassKey, FileScopes, ModuleRef, Place, Scope
from tools.code.source import text_of
from tools.code.symbols import ReferenceFinder

if TYPE_CHECKING:
    from tree_sitter import Node


#: Modules that do something when they are imported.
_ACTING = frozenset({"antigravity", "this", "idlelib", "turtledemo", "test", "lib2to3"})
#: Methods that classes of Python's library find by the beginning of their names.
_DISPATCHED = ("visit_", "do_", "help_", "complete_")
_DELEGATES = frozenset({"__getattr__", "__getattribute__"})


class MemberFinder(ReferenceFinder):
    def find(self) -> None:
        name, found, classes = self._symbol.name, self._found, self._classes
        assert self._symbol.owner is not None
        family = self._family(self._symbol.owner)
        found.family = sorted(family, key=lambda key: (key.path, key.binding.line))
        for key in found.family:
            # A class may be defined twice.
            bodies = [body for body in self._project.files[key.path].classes if body.binding is key.binding]
            for place in (place for body in bodies for place in body.members.get(name, ())):
                found.add(key.path, place, "property", key)
            for base in classes.outside_bases(key):
                if _has_member(base, name) is not False or name.startswith(_DISPATCHED):
                    found.risks.append(
                        f"{key.binding.name} ({key.path}:{key.binding.line}) has a base class outside the workspace, "
                        f"{base}: if {name} overrides a member of it, it no longer does."
                    )
            found.risks += [f"{key.path}:{line} learns its name at run time." for line in self._descriptors(key)]
        script = self._project.files[self._symbol.path].source.family == "script"
        if script and name in SCRIPT_METHODS:
            found.risks.append(f"JavaScript itself calls {name}.")
        if name.startswith("__") and name.endswith("__"):
            found.risks.append(f"Python itself calls {name}.")
        self._find_open_classes(family)
        unique = self._is_unique(family)
        for path, file in self._files.items():
            self._search_mentions(path, file, family)
            for own, member, place in file.own:
                key = ClassKey(path, own.binding)
                if member == name and self._belongs(key, family):
                    found.add(path, place, "property", key)
            for access in file.accesses:
                if access.name == name:
                    self._access(path, file, access.object, access.scope, access.place, family, unique=unique)
            for keyword in file.keywords:
                if keyword.name == name:
                    self._named(path, file, keyword.callee, keyword.scope, keyword.place, family)

    def _find_open_classes(self, family: set[ClassKey]) -> None:
        """Add the member of classes with a base that only a run knows, `class Other(cart.line_class)`, as likely."""
        for path, file in self._files.items():
            for body in file.classes:
                key, places = ClassKey(path, body.binding), body.members.get(self._symbol.name)
                if places and key not in family and self._classes.has_open_base(key):
                    for place in places:
                        self._found.add_likely(path, place)

    def _descriptors(self, key: ClassKey) -> Iterator[int]:
        """Yield the lines where the member gets a value that learns its name: `size = Field()`."""
        body, file = self._classes.body(key), self._project.files[key.path]
        for node, scope in body.values.get(self._symbol.name, ()) if body is not None else ():
            evidence = self._classes.of(node, scope, file)
            if isinstance(evidence, ClassKey) and "__set_name__" in self._members(evidence):
                yield node.start_point[0] + 1

    def _family(self, owner: ClassKey) -> set[ClassKey]:
        """Return the classes that override each other's member of this name."""
        definers = [
            ClassKey(path, body.binding)
            for path, file in self._project.files.items()
            for body in file.classes
            if self._symbol.name in body.members
        ]
        above = {key: set(self._classes.ancestors(key)) for key in definers}
        protocols = {key for key in definers if self._is_protocol(key)}
        for key in definers:
            # A class that has all members of a protocol implements it.
            above[key] |= {each for each in protocols if each != key and self._implements(key, each)}
        # Bases of one class take each other's place in its instances.
        mixed = [
            {key for key in definers if key in self._classes.ancestors(ClassKey(path, body.binding))}
            for path, file in self._project.files.items()
            for body in file.classes
            if len(body.bases) > 1
        ]
        family = {owner}
        grown = True
        while grown:
            grown = False
            for key in definers:
                if key not in family and (
                    any(key in above.get(each, ()) or each in above[key] for each in family)
                    or any(key in bases and not bases.isdisjoint(family) for bases in mixed)
                ):
                    family.add(key)
                    grown = True
        return family

    def _implements(self, key: ClassKey, protocol: ClassKey) -> bool:
        """Whether a class has every member of a protocol, without naming it as a base."""
        wanted, has = self._members(protocol), self._members(key)
        return bool(wanted) and wanted <= has

    def _members(self, key: ClassKey) -> set[str]:
        bodies = [body for each in self._classes.ancestors(key) if (body := self._classes.body(each)) is not None]
        return {name for body in bodies for name, places in body.members.items() if places}

    def _is_protocol(self, key: ClassKey) -> bool:
        body = self._classes.body(key)
        if body is None or body.binding.node is None:
            return False
        return body.binding.node.type == "interface_declaration" or any(
            text_of(base).rpartition(".")[2].startswith("Protocol") for base in body.bases
        )

    def _is_unique(self, family: set[ClassKey]) -> bool:
        """Whether no other class has a member of this name, and it is no word that libraries use."""
        name = self._symbol.name
        words = name.strip("_").lower() != name.strip("_") or "_" in name.strip("_")
        others = (
            ClassKey(path, body.binding) not in family
            for path, file in self._project.files.items()
            for body in file.classes
            if body.members.get(name)
        )
        return words and not any(others)

    def _search_mentions(self, path: str, file: FileScopes, family: set[ClassKey]) -> None:
        """Add names in strings: `getattr(cart, "total")`, `patch("shop.Cart.total")`."""
        name = self._symbol.name
        for each in attribute_mentions(file, name):
            evidence = self._classes.of(each.object, each.scope, file) if each.object is not None else None
            if isinstance(evidence, ClassKey) and self._belongs(evidence, family):
                # `Class["NAME"]` is a member of an enum; that of an instance is an item.
                if not each.keyed or self._names_class(each.object, each.scope, file):
                    self._found.add(path, each.place, "text")
            elif evidence is None and not each.keyed and not self._is_module(each.object, each.scope, file):
                self._found.add_likely(path, each.place, "text")
        for mention in quoted_paths(file, name):
            self._search_path(path, mention, family)
        note_risks(path, file, self._symbol, self._found, self._project)

    def _names_class(self, item: "Node | None", scope: Scope, file: FileScopes) -> bool:
        if file.source.family == "script":
            return True
        meaning = self._project.expression_meaning(item, scope, file) if item is not None else None
        return isinstance(meaning, BindingRef) and meaning.binding.kind == "class"

    def _is_module(self, item: "Node | None", scope: Scope, file: FileScopes) -> bool:
        return item is not None and isinstance(self._project.expression_meaning(item, scope, file), ModuleRef)

    def search_text(self, path: str, text: bytes) -> None:
        for mention in path_mentions(text, self._symbol.name):
            self._search_path(path, mention, set(self._found.family))

    def _search_path(self, path: str, mention: PathMention, family: set[ClassKey]) -> None:
        module, _, word = mention.prefix.rpartition(".")
        source = self._project.modules.package(module, path) if module else None
        meaning = self._project.member(source, word) if source is not None else None
        if isinstance(meaning, BindingRef) and self._belongs(ClassKey(*meaning), family):
            self._found.add(path, mention.place, "text")

    def _belongs(self, key: ClassKey, family: set[ClassKey]) -> bool:
        return any(each in family for each in self._classes.ancestors(key))

    def _access(
        self,
        path: str,
        file: FileScopes,
        item: "Node | None",
        scope: Scope,
        place: Place,
        family: set[ClassKey],
        *,
        unique: bool = False,
    ) -> None:
        if item is None:
            self._found.add_likely(path, place)
            return
        evidence = self._classes.of(item, scope, file)
        if isinstance(evidence, ClassKey):
            if self._belongs(evidence, family):
                self._found.add(path, place, "property", evidence)
            elif (
                any(evidence in self._classes.ancestors(each) for each in family)
                or self._classes.has_outside_base(evidence)
                or self._delegates(evidence)
            ):
                self._found.add_likely(path, place)
        elif evidence is None and unique and place.manner == "plain":
            # Only one class of the project can be meant.
            self._found.add(path, place, "property")
        elif evidence is None:
            self._found.add_likely(path, place)

    def _delegates(self, key: ClassKey) -> bool:
        """Whether a class may take the member from another object, because it has none of this name."""
        return self._symbol.name not in self._members(key) and not _DELEGATES.isdisjoint(self._members(key))

    def _named(
        self, path: str, file: FileScopes, callee: "Node", scope: Scope, place: Place, family: set[ClassKey]
    ) -> None:
        """Add `Point(x=1)` where members are named to construct, and keys of objects with a declared type."""
        if file.source.family == "script":
            evidence = self._classes.of_annotation(callee, scope, file)
            if isinstance(evidence, ClassKey):
                if self._belongs(evidence, family):
                    self._found.add(path, place, "property", evidence)
            elif evidence is None:
                self._found.add_likely(path, place)
            return
        if (word := text_of(callee).rpartition(".")[2]) in ("replace", "_replace", "evolve"):
            self._copied(path, file, callee, scope, place, family, word)
            return
        meaning = self._project.expression_meaning(callee, scope, file)
        if isinstance(meaning, BindingRef) and meaning.binding.kind == "class":
            key = ClassKey(*meaning)
            made = [body for each in self._classes.ancestors(key) if (body := self._classes.body(each)) is not None]
            made_so = any(body.by_members for body in made) and not any("__init__" in body.methods for body in made)
            if made_so and self._belongs(key, family):
                self._found.add(path, place, "property", key)

    def _copied(
        self, path: str, file: FileScopes, callee: "Node", scope: Scope, place: Place, family: set[ClassKey], word: str
    ) -> None:
        """Add `replace(point, x=1)` and `point._replace(x=1)`, which copy an instance."""
        item = callee.child_by_field_name("object") if word == "_replace" else None
        arguments = callee.parent.child_by_field_name("arguments") if callee.parent is not None else None
        if item is None and arguments is not None and arguments.named_child_count:
            item = arguments.named_children[0]
        self._access(path, file, item, scope, place, family)


@lru_cache(maxsize=1_000)
def _has_member(path: str, name: str) -> bool | None:
    """Whether a class such as `threading.Thread` has a member; None if the class is not of Python's own library."""
    module, _, word = path.rpartition(".")
    top = module.partition(".")[0]
    if not module:
        found: object = getattr(builtins, word, None)
    elif top in sys.stdlib_module_names and top not in _ACTING:
        try:
            found = getattr(importlib.import_module(module), word, None)
        except Exception:  # a part of the library that is not on this machine
            return None
    else:
        return None
    return hasattr(found, name) if isinstance(found, type) else None
