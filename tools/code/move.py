"""Move a symbol to another file, with the imports it needs, and update the imports of its users."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sidecar.wire.text import listed
from tools.code.edits import ByteEdit, apply_edits, newline_of
from tools.code.import_edits import remove_names
from tools.code.move_risks import check_needed, check_replaced, check_text, lookups, registrations
from tools.code.move_syntax import MoveSyntax, NewImports, PythonSyntax, ScriptSyntax
from tools.code.project import Project, Refusal
from tools.code.scopes import Binding, BindingRef, FileScopes, ModuleRef
from tools.code.source import SourceText, family_of

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(slots=True)
class MoveResult:
    #: The new content of each file; the target may be new.
    contents: dict[str, bytes]
    users: list[str]
    line: int
    kind: str
    #: Why the old file still has the name: places that take it from there at run time.
    kept_for: list[str]


@dataclass(slots=True)
class FileDraft:
    """Planned edits of one file, and import lines to add."""

    edits: list[ByteEdit] = field(default_factory=list)
    imports: NewImports = field(default_factory=NewImports)


def plan_move(
    name: str, source: str, target: str, project: Project, texts: Mapping[str, bytes] | None = None
) -> MoveResult:
    """`texts` are the settings files that hold the name."""
    return _Move(name, source, target, project).plan(texts or {})


class _Move:
    def __init__(self, name: str, source: str, target: str, project: Project) -> None:
        self._name, self._from, self._to, self._project = name, source, target, project
        self._drafts: dict[str, FileDraft] = {}
        self._users: list[str] = []
        family = family_of(source)
        if family is None or family != family_of(target):
            raise Refusal(
                "unknown_language",
                f"{source} and {target} must both be Python, or both TypeScript or JavaScript.",
            )
        self._syntax: MoveSyntax = PythonSyntax() if family == "python" else ScriptSyntax()

    def plan(self, texts: Mapping[str, bytes]) -> MoveResult:
        binding, block = self._definition()
        source = self._project.files[self._from]
        self._check_modules()
        check_text(self._name, block, self._from, self._to)
        inside = _bytes_of(block, source.source.text)
        needed = self._needed(source, inside)
        check_needed(self._name, needed, source)
        kept_for = lookups(binding, self._from, self._to, self._project, texts)
        if kept_for and source.source.family == "script":
            raise Refusal("uncertain", f"{listed(kept_for, 5)}. Nothing was changed; move it by hand.")
        used = self._used_outside(binding, inside)
        stays = used or bool(kept_for)
        self._check_target(needed)
        for path, file in sorted(self._project.files.items()):
            if path != self._from:
                self._user(path, file)
        if not self._users and not stays:
            kept_for = registrations(block)
            stays = bool(kept_for)
        if stays:
            self._draft(self._from).imports.plain.append(
                self._syntax.import_line(self._project, self._from, self._to, self._name)
            )
        self._check_cycles(needed, stays=stays)
        contents = self._render(block, inside, needed, stays=stays)
        return MoveResult(contents, self._users, binding.line, binding.kind, [] if used else kept_for)

    def _draft(self, path: str) -> FileDraft:
        return self._drafts.setdefault(path, FileDraft())

    def _definition(self) -> tuple[Binding, "Node"]:
        file = self._project.files.get(self._from)
        if file is None:
            why = self._project.skipped.get(self._from, "it was not read")
            raise Refusal("no_match", f"{self._from} cannot be changed: {why}.")
        binding = file.module.values.get(self._name) or file.module.types.get(self._name)
        if binding is None or binding.imported is not None:
            raise Refusal("no_match", f"{self._from} has no {self._name} at module level; nothing was changed.")
        defining = [place for place in binding.places if place.defines]
        if len(defining) != 1:
            lines = ", ".join(str(place.line) for place in defining)
            raise Refusal("ambiguous", f"{self._name} is defined more than once in {self._from} (lines {lines}).")
        block = self._syntax.statement_at(file.source.root, defining[0].start)
        if block is None:
            raise Refusal("no_match", f"{self._name} is not a statement of its own in {self._from}; move it by hand.")
        return binding, block

    def _check_modules(self) -> None:
        """Refuse where files use CommonJS: the imports that a move writes are those of ES modules."""
        for path, file in self._project.files.items():
            takes = any(each.imported is not None and self._is_the_symbol(each, file) for each in file.bindings)
            if file.commonjs and (path in (self._from, self._to) or takes):
                raise Refusal(
                    "not_possible",
                    f"{path} uses require or module.exports, for which a move can't write the imports. "
                    "Nothing was changed; move it by hand.",
                )

    def _used_outside(self, binding: Binding, inside: tuple[int, int]) -> bool:
        file = self._project.files[self._from]
        listed = any(name == self._name for name, _ in file.listed)
        return listed or any(not _within(place.start, inside) for place in binding.places)

    def _needed(self, file: FileScopes, inside: tuple[int, int]) -> dict[str, Binding]:
        """Return the names of the source file that the moved text reads."""
        found: dict[str, Binding] = {}
        for use, meant in file.uses:
            if _within(use.place.start, inside) and meant.scope is file.module and meant.name != self._name:
                found[meant.name] = meant
        return found

    def _check_target(self, needed: dict[str, Binding]) -> None:
        target = self._project.files.get(self._to)
        if target is None:
            if self._to in self._project.skipped:
                raise Refusal("no_match", f"{self._to} cannot be changed: {self._project.skipped[self._to]}.")
            return
        source = self._project.files[self._from]
        there = target.module.values.get(self._name) or target.module.types.get(self._name)
        if there is not None and not self._is_the_symbol(there, target):
            raise Refusal(
                "name_taken",
                f"{self._to}:{there.line} already has a {self._name}; nothing was changed. Rename one of them.",
            )
        for name, binding in needed.items():
            other = target.module.values.get(name) or target.module.types.get(name)
            if other is None:
                continue
            if self._project.meaning(other, target) != self._project.meaning(binding, source) or (
                binding.imported is not None
                and other.imported is not None
                and self._project.meaning(binding, source) is None
                and (binding.imported.module, binding.imported.name) != (other.imported.module, other.imported.name)
            ):
                raise Refusal(
                    "name_taken",
                    f"{self._name} uses {name} ({self._from}:{binding.line}), and {self._to}:{other.line} has another "
                    f"{name}; nothing was changed.",
                )

    def _is_the_symbol(self, binding: Binding, file: FileScopes) -> bool:
        meaning = self._project.meaning(binding, file)
        return isinstance(meaning, BindingRef) and meaning.path == self._from and meaning.binding.name == self._name

    def _user(self, path: str, file: FileScopes) -> None:
        changed = False
        for statement, names, module in self._syntax.imports(file):
            if module is None or self._project.resolve(module, path) != self._from:
                continue
            taken = [number for number, each in enumerate(names) if self._syntax.imported_name(each) == self._name]
            if not taken:
                continue
            changed = True
            text = file.source.text
            if path == self._to:
                self._take_out(path, statement, names, set(taken), text)
            elif len(taken) == len(names) and self._syntax.imports_only_names(statement):
                self._draft(path).edits.append(self._syntax.redirect(statement, self._project, path, self._to, module))
            else:
                part = text[names[taken[0]].start_byte : names[taken[0]].end_byte].decode()
                self._take_out(path, statement, names, set(taken), text)
                new = self._syntax.extra_import(statement, part, self._project, path, self._to, module)
                end = statement.end_byte
                self._draft(path).edits.append(ByteEdit(end, end, newline_of(text) + new.encode()))
        changed |= self._by_module(path, file) | self._by_star(path, file)
        if changed and path != self._to:
            self._users.append(path)

    def _by_star(self, path: str, file: FileScopes) -> bool:
        """Export the name, too, where a script exports everything of the old file."""
        sources = {self._project.resolve(star, path): star for star in file.stars}
        written = sources.get(self._from)
        if file.source.family == "python" or written is None or path == self._to or self._to in sources:
            return False
        for statement, names, module in self._syntax.imports(file):
            if module == written and not names and statement.type == "export_statement":
                new = self._syntax.extra_import(statement, self._name, self._project, path, self._to, module)
                end = newline_of(file.source.text) + new.encode()
                self._draft(path).edits.append(ByteEdit(statement.end_byte, statement.end_byte, end))
        return True

    def _take_out(self, path: str, statement: "Node", names: list["Node"], gone: set[int], text: bytes) -> None:
        draft = self._draft(path)
        if len(gone) == len(names):
            start = text.rfind(b"\n", 0, statement.start_byte) + 1
            end = text.find(b"\n", statement.end_byte)
            draft.edits.append(ByteEdit(start, end + 1 if end >= 0 else len(text), b""))
        else:
            draft.edits += remove_names(names, gone, text)

    def _by_module(self, path: str, file: FileScopes) -> bool:
        """Redirect `module.name` to the new module."""
        changed = False
        for access in file.accesses:
            if access.name != self._name or access.object is None:
                continue
            owner = self._project.expression_meaning(access.object, access.scope, file)
            if not isinstance(owner, ModuleRef) or owner.path != self._from:
                continue
            if file.source.family == "script" or path == self._to:
                raise Refusal(
                    "not_possible",
                    f"{path}:{access.place.line} uses {self._name} through its module; import it by name "
                    "first. Nothing was changed.",
                )
            if access.object.parent is not None:
                check_replaced(access.object.parent, path, self._name)
            name = self._project.modules.python_name(self._to)
            self._draft(path).edits.append(ByteEdit(access.object.start_byte, access.object.end_byte, name.encode()))
            if f"import {name}" not in self._draft(path).imports.plain:
                self._draft(path).imports.plain.append(f"import {name}")
            changed = True
        return changed

    def _check_cycles(self, needed: dict[str, Binding], *, stays: bool) -> None:
        """Refuse a move whose new imports would form a cycle."""
        goes_back = any(binding.imported is None for binding in needed.values())
        if goes_back and stays:
            raise Refusal(
                "would_cycle",
                f"{self._name} uses other names of {self._from}, and {self._from} uses {self._name}: the two files "
                "would import each other. Nothing was changed.",
            )
        fresh = [(path, self._to) for path in [*self._users, *([self._from] if stays else [])]]
        fresh += [(self._to, self._from)] if goes_back else []
        fresh += [(self._to, path) for path in self._imported_for(needed)]
        for importer, imported in fresh:
            if imported not in self._imported(importer) and self._reaches(imported, importer, fresh):
                raise Refusal(
                    "would_cycle",
                    f"{importer} would import {imported}, which already imports {importer}, directly or not: a "
                    "cycle. Nothing was changed.",
                )

    def _imported_for(self, needed: dict[str, Binding]) -> set[str]:
        """The files that the moved text makes its new file import."""
        source, found = self._project.files[self._from], set[str]()
        for binding in needed.values():
            imported = binding.imported
            if imported is None or self._syntax.is_guarded(binding, source):
                continue
            owner = self._project.resolve(imported.module, self._from)
            below = self._project.modules.submodule(owner, imported.name) if owner and imported.name else None
            found |= {path for path in (owner, below) if path}
        return found - {self._to}

    def _still_imports(self) -> bool:
        """Whether the target imports anything else from the source."""
        target = self._project.files.get(self._to)
        bindings = target.module.values.values() if target is not None else ()
        return any(
            each.imported is not None
            and each.imported.name != self._name
            and self._project.resolve(each.imported.module, self._to) == self._from
            for each in bindings
        )

    def _imported(self, path: str) -> set[str]:
        file = self._project.file(path)
        if file is None:
            return set()
        modules = [each.imported.module for each in file.module.values.values() if each.imported is not None]
        names = [each.imported for each in file.module.values.values() if each.imported is not None]
        found = {target for module in [*modules, *file.stars] if (target := self._project.resolve(module, path))}
        for each in names:
            # `from package import module`
            if each.name and (owner := self._project.resolve(each.module, path)) and file.source.family == "python":
                below = self._project.modules.submodule(owner, each.name)
                found |= {below} if below else set()
        return found - {path}

    def _reaches(self, start: str, end: str, fresh: Sequence[tuple[str, str]]) -> bool:
        """Whether one file imports the other, directly or not, once the `fresh` imports are there."""
        taken_away = (self._to, self._from) not in fresh and not self._still_imports()
        seen, waiting = {start}, [start]
        while waiting:
            path = waiting.pop()
            for each in (*self._imported(path), *(imported for importer, imported in fresh if importer == path)):
                if taken_away and (path, each) == (self._to, self._from):
                    continue
                if each == end:
                    return True
                if each not in seen:
                    seen.add(each)
                    waiting.append(each)
        return False

    def _render(
        self, block: "Node", inside: tuple[int, int], needed: dict[str, Binding], *, stays: bool
    ) -> dict[str, bytes]:
        source = self._project.files[self._from].source
        text = self._syntax.moved_text(block, inside, source.text, self._project, self._from, self._to)
        if stays or self._users:
            text = self._syntax.exported_text(text)
        target = self._project.files.get(self._to)
        draft = self._draft(self._to)
        for name, each in sorted(needed.items()):
            there = (target.module.values.get(name) or target.module.types.get(name)) if target is not None else None
            guarded = self._syntax.is_guarded(each, self._project.files[self._from])
            if there is None or (target is not None and not guarded and self._syntax.is_guarded(there, target)):
                lines = draft.imports.guarded if guarded else draft.imports.plain
                lines.append(self._syntax.import_for(each, self._project, self._from, self._to))
        contents = {self._to: self._render_target(target, draft, text, newline_of(source.text))}
        gone = {name for name, each in needed.items() if each.imported is not None and not _read_outside(each, inside)}
        self._draft(self._from).edits += [
            ByteEdit(*inside, b""),
            *self._syntax.drop_imports(self._project.files[self._from], gone),
        ]
        for path, changed in self._drafts.items():
            if path != self._to:
                contents[path] = self._render_file(path, changed)
        if inside[1] == len(source.text):
            left = contents[self._from].rstrip()
            contents[self._from] = left + newline_of(source.text) if left else b""
        for path, content in contents.items():
            if not SourceText(path, content).is_valid:
                raise Refusal("would_break", f"{path} would no longer be valid; nothing was changed. Move it by hand.")
        return contents

    def _render_file(self, path: str, draft: FileDraft) -> bytes:
        source = self._project.files[path].source
        text = apply_edits(source.text, draft.edits)
        return source.bom + self._syntax.add_imports(text, draft.imports, self._project, path)

    def _render_target(self, target: FileScopes | None, draft: FileDraft, text: bytes, newline: bytes) -> bytes:
        if target is None:
            text = text.replace(b"\r\n", b"\n").replace(b"\n", newline)
            return self._syntax.new_file(text, draft.imports, self._project, self._to, self._from)
        newline = newline_of(target.source.text) if b"\n" in target.source.text else newline
        text = text.replace(b"\r\n", b"\n").replace(b"\n", newline)
        old = apply_edits(target.source.text, draft.edits)
        used = any(self._is_the_symbol(each, target) for each in target.module.values.values())
        if used:
            # Code below may read it at import time.
            place = self._syntax.after_imports(old, self._to)
            new = old[:place] + newline + text + newline + newline + old[place:].lstrip(b"\r\n")
        else:
            body = old.rstrip()
            new = (body + newline * 3 if body else b"") + text + newline
        return target.source.bom + self._syntax.add_imports(new, draft.imports, self._project, self._to)


def _within(place: int, inside: tuple[int, int]) -> bool:
    return inside[0] <= place < inside[1]


def _read_outside(binding: Binding, inside: tuple[int, int]) -> bool:
    return any(not place.defines and not _within(place.start, inside) for place in binding.places)


def _bytes_of(block: "Node", text: bytes) -> tuple[int, int]:
    """Return the span of a statement with the comments right above it and the blank lines below."""
    start = text.rfind(b"\n", 0, block.start_byte) + 1
    while start > 0:
        above = text.rfind(b"\n", 0, start - 1) + 1
        line = text[above : start - 1].strip()
        if not line.startswith((b"#", b"//", b"*", b"/*")) or line.startswith(b"#!"):
            break
        start = above
    end = text.find(b"\n", block.end_byte)
    end = end + 1 if end >= 0 else len(text)
    while end < len(text) and text[end : text.find(b"\n", end) + 1 or len(text)].strip() == b"":
        following = text.find(b"\n", end)
        end = following + 1 if following >= 0 else len(text)
    return start, end
