"""How each language writes import lines and statements, for moves."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tools.code import python_imports, script_imports
from tools.code.edits import ByteEdit, apply_edits, newline_of
from tools.code.import_edits import close_gaps
from tools.code.modules import Modules
from tools.code.project import Project, Refusal, analyze
from tools.code.python_definitions import name_of
from tools.code.scopes import Binding, FileScopes
from tools.code.source import SourceText, descendants, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: A statement, the names it imports, and the module as it is written.
ImportStatement = tuple["Node", list["Node"], str | None]
#: Import lines no longer than this get another name.
_WIDTH = 88
_FUTURE_LINE = "from __future__ import annotations"
_FUTURE = re.compile(rb"^from __future__ import [^\n]*\bannotations\b", re.M)


@dataclass(slots=True)
class NewImports:
    """Import lines to add; `guarded` are those that only type checkers read."""

    plain: list[str] = field(default_factory=list)
    guarded: list[str] = field(default_factory=list)


class MoveSyntax(Protocol):
    def statement_at(self, root: "Node", place: int) -> "Node | None": ...

    def imports(self, file: FileScopes) -> Iterator[ImportStatement]: ...

    def imported_name(self, node: "Node") -> str: ...

    def imports_only_names(self, statement: "Node") -> bool: ...

    def redirect(self, statement: "Node", project: Project, importer: str, target: str, written: str) -> ByteEdit: ...

    def extra_import(
        self, statement: "Node", part: str, project: Project, importer: str, target: str, written: str
    ) -> str: ...

    def import_line(self, project: Project, importer: str, target: str, name: str) -> str: ...

    def import_for(self, binding: Binding, project: Project, source: str, target: str) -> str: ...

    def drop_imports(self, file: FileScopes, gone: set[str]) -> list[ByteEdit]: ...

    def moved_text(
        self, block: "Node", inside: tuple[int, int], text: bytes, project: Project, source: str, target: str
    ) -> bytes: ...

    def exported_text(self, text: bytes) -> bytes: ...

    def after_imports(self, text: bytes, path: str) -> int: ...

    def is_guarded(self, binding: Binding, file: FileScopes) -> bool:
        """Whether only type checkers read this import."""
        ...

    def add_imports(self, text: bytes, new: NewImports, project: Project, path: str) -> bytes: ...

    def new_file(self, text: bytes, new: NewImports, project: Project, path: str, source: str) -> bytes: ...


def _insert_lines(text: bytes, lines: list[str], place: int) -> bytes:
    missing = [line for line in dict.fromkeys(lines) if line.encode() not in text.splitlines()]
    if not missing:
        return text
    newline = newline_of(text)
    block = newline.join(line.encode() for line in missing) + newline
    if place == 0 and text.strip():
        rest = text.lstrip(b"\r\n")
        defines = rest.startswith((b"def ", b"class ", b"@", b"async def "))
        return block + newline * (2 if defines else 1) + rest
    rest = text[place:]
    return text[:place] + block + rest


def _line_end(text: bytes, place: int) -> int:
    end = text.find(b"\n", place)
    return end + 1 if end >= 0 else len(text)


class PythonSyntax:
    def statement_at(self, root: "Node", place: int) -> "Node | None":
        for child in root.named_children:
            if child.start_byte <= place < child.end_byte:
                inner = child.child_by_field_name("definition") or child
                if inner.type in ("function_definition", "class_definition"):
                    return child
                assignment = child.named_children[0] if child.type == "expression_statement" else None
                left = assignment.child_by_field_name("left") if assignment is not None else None
                return child if left is not None and left.type == "identifier" else None
        return None

    def imports(self, file: FileScopes) -> Iterator[ImportStatement]:
        for node in descendants(file.source.root):
            if node.type == "import_from_statement":
                names = list(node.children_by_field_name("name"))
                module = node.child_by_field_name("module_name")
                yield node, names, "".join(text_of(module).split()) if module else None

    def imported_name(self, node: "Node") -> str:
        return name_of((node.child_by_field_name("name") or node).named_children[0])

    def imports_only_names(self, statement: "Node") -> bool:
        return True

    def redirect(self, statement: "Node", project: Project, importer: str, target: str, written: str) -> ByteEdit:
        module = statement.child_by_field_name("module_name")
        assert module is not None
        return ByteEdit(module.start_byte, module.end_byte, _python_module(project, importer, target, written).encode())

    def extra_import(
        self, statement: "Node", part: str, project: Project, importer: str, target: str, written: str
    ) -> str:
        indent = " " * statement.start_point[1]
        return f"{indent}from {_python_module(project, importer, target, written)} import {part}"

    def import_line(self, project: Project, importer: str, target: str, name: str) -> str:
        return f"from {_python_module(project, importer, target, _manner(project, importer))} import {name}"

    def import_for(self, binding: Binding, project: Project, source: str, target: str) -> str:
        imported = binding.imported
        if imported is None:
            return self.import_line(project, target, source, binding.name)
        alias = f" as {binding.name}" if imported.aliased else ""
        if imported.name is None:
            if not imported.aliased:
                return f"import {_whole_import(project, source, binding)}"
            return f"import {imported.module}{alias}"
        module = imported.module
        if module.startswith("."):
            path = project.modules.package(module, source)
            if path is None:
                raise Refusal("not_possible", f"{source} imports {module}, which does not exist; nothing was changed.")
            module = _python_module(project, target, path, ".")
        return f"from {module} import {imported.name}{alias}"

    def drop_imports(self, file: FileScopes, gone: set[str]) -> list[ByteEdit]:
        return close_gaps(python_imports.plan_edits(file, gone, None).edits, file.source.text) if gone else []

    def moved_text(
        self, block: "Node", inside: tuple[int, int], text: bytes, project: Project, source: str, target: str
    ) -> bytes:
        """Return the moved text; its relative imports start from the new file."""
        edits = []
        for node in descendants(block):
            module = node.child_by_field_name("module_name") if node.type == "import_from_statement" else None
            if module is not None and module.type == "relative_import":
                path = project.modules.package("".join(text_of(module).split()), source)
                if path is not None:
                    new = _python_module(project, target, path, ".").encode()
                    edits.append(ByteEdit(module.start_byte - inside[0], module.end_byte - inside[0], new))
        return apply_edits(text[slice(*inside)], edits).rstrip()

    def exported_text(self, text: bytes) -> bytes:
        return text

    def after_imports(self, text: bytes, path: str) -> int:
        place = 0
        for child in SourceText(path, text).root.named_children:
            importing = child.type in ("import_statement", "import_from_statement", "future_import_statement")
            docstring = child.type == "expression_statement" and place == 0 and child.named_children[0].type == "string"
            if importing or docstring:
                place = _line_end(text, child.end_byte)
            elif child.type != "comment" and not _sets_dunder(child):
                break
        if place == 0:
            # Stay below an encoding or licence comment.
            for match in re.finditer(rb"(?:#[^\n]*\n)+", text):
                return match.end() if match.start() == 0 else 0
        return place

    def is_guarded(self, binding: Binding, file: FileScopes) -> bool:
        guard = _guard(file.source.root)
        defining = [place.start for place in binding.places if place.defines]
        return guard is not None and all(guard.start_byte <= start < guard.end_byte for start in defining)

    def add_imports(self, text: bytes, new: NewImports, project: Project, path: str) -> bytes:
        lines = list(new.plain)
        if not lines and not new.guarded:
            return text
        was_sorted = not self._sorting(text, project, path)
        guard = _guard(SourceText(path, text).root) if new.guarded else None
        if guard is not None:
            text = _extend_guard(text, guard, new.guarded)
        else:
            lines += new.guarded
        text, lines = _join_imports(text, lines, path)
        place = self.after_imports(text, path)
        bare = not any("import" in each.type for each in SourceText(path, text[:place]).root.named_children)
        if lines and bare and place > 0:
            lines = ["", *lines]
        text = _insert_lines(text, lines, place) if lines else text
        return apply_edits(text, self._sorting(text, project, path)) if was_sorted else text

    def new_file(self, text: bytes, new: NewImports, project: Project, path: str, source: str) -> bytes:
        newline = newline_of(text)
        guarded = [f"    {line}" for line in _combine(new.guarded)]
        lines = _combine([*new.plain, *(["from typing import TYPE_CHECKING"] if guarded else [])])
        # Annotations stay unevaluated.
        if _FUTURE.search(project.files[source].source.text):
            lines = [_FUTURE_LINE, *lines]
        lines += ["", "if TYPE_CHECKING:", *guarded] if guarded else []
        begin = newline.join(line.encode() for line in lines)
        whole = (begin + newline * 3 if begin else b"") + text + newline
        return apply_edits(whole, self._sorting(whole, project, path))

    def _sorting(self, text: bytes, project: Project, path: str) -> list[ByteEdit]:
        """What would sort the imports."""
        source = SourceText(path, text)
        if not source.is_valid:
            return []

        def first_party(name: str) -> bool:
            return project.modules.package(name, path) is not None

        return python_imports.plan_edits(analyze(source, frozenset()), set(), first_party).edits


def _sets_dunder(statement: "Node") -> bool:
    """Such as `__all__ = […]`, which may stand between imports."""
    assignment = statement.named_children[0] if statement.type == "expression_statement" else None
    left = assignment.child_by_field_name("left") if assignment is not None else None
    return left is not None and text_of(left).startswith("__") and text_of(left).endswith("__")


def _guard(root: "Node") -> "Node | None":
    """The body of `if TYPE_CHECKING:`."""
    for child in root.named_children:
        condition = child.child_by_field_name("condition") if child.type == "if_statement" else None
        if condition is not None and text_of(condition).endswith("TYPE_CHECKING"):
            return child.child_by_field_name("consequence")
    return None


def _extend_guard(text: bytes, guard: "Node", lines: list[str]) -> bytes:
    old = [line.strip() for line in text_of(guard).splitlines()]
    whole = list(dict.fromkeys([*old, *lines]))
    if old == sorted(old) and all(line.startswith(("from ", "import ")) for line in old):
        whole.sort()
        indent = newline_of(text) + b" " * guard.start_point[1]
        return text[: guard.start_byte] + indent.join(line.encode() for line in whole) + text[guard.end_byte :]
    return _insert_lines(text, [f"    {line}" for line in lines], _line_end(text, guard.end_byte))


def _join_imports(text: bytes, lines: list[str], path: str) -> tuple[bytes, list[str]]:
    """Add names to `from` statements of one line; the lines that are left need statements of their own."""
    root = SourceText(path, text).root
    edits: list[ByteEdit] = []
    left: list[str] = []
    for line in dict.fromkeys(lines):
        head, imports, name = line.partition(" import ")
        for node in root.named_children:
            names = node.children_by_field_name("name") if node.type == "import_from_statement" else []
            start = text.rfind(b"\n", 0, node.start_byte) + 1
            own = text[start : _line_end(text, node.end_byte)].decode().rstrip()
            fits = len(own) + len(name) + 2 <= _WIDTH and own == text_of(node)
            if imports and names and fits and "(" not in own and own.partition(" import ")[0] == head:
                edits.append(ByteEdit(names[-1].end_byte, names[-1].end_byte, f", {name}".encode()))
                break
        else:
            left.append(line)
    return apply_edits(text, edits), _combine(left)


def _combine(lines: list[str]) -> list[str]:
    """Put the names that come from one module into one line."""
    found: list[str] = []
    for line in sorted(set(lines)):
        head, imports, name = line.partition(" import ")
        joins = imports and found and found[-1].partition(" import ")[0] == head
        if joins and len(found[-1]) + len(name) + 2 <= _WIDTH:
            found[-1] += f", {name}"
        else:
            found.append(line)
    return found


def _manner(project: Project, importer: str) -> str:
    """Return "." if the file uses relative imports."""
    file = project.files.get(importer)
    if file is None:
        return ""
    modules = [each.imported.module for each in file.module.values.values() if each.imported is not None]
    own = [module for module in modules if project.modules.package(module, importer) is not None]
    return "." if own and all(module.startswith(".") for module in own) else ""


def _whole_import(project: Project, source: str, binding: Binding) -> str:
    """Return the whole name of `import a.b`, which binds a."""
    file = project.files[source]
    for node in file.source.root.named_children:
        if node.type == "import_statement":
            for each in node.children_by_field_name("name"):
                if each.type == "dotted_name" and name_of(each.named_children[0]) == binding.name:
                    return text_of(each)
    return binding.name


def _python_module(project: Project, importer: str, target: str, written: str) -> str:
    """Return a module as this file would import it: relative if `written` is."""
    modules: Modules = project.modules
    if written.startswith("."):
        here, there = posixpath.dirname(importer), target.removesuffix(".py").removesuffix("/__init__").rstrip("/")
        package = there if target.endswith(("/", "/__init__.py")) else posixpath.dirname(there)
        common = posixpath.commonpath([here or ".", package or "."]) if here else ""
        common = "" if common == "." else common
        ups = len(here[len(common) :].strip("/").split("/")) if here[len(common) :].strip("/") else 0
        rest = there[len(common) :].strip("/").replace("/", ".")
        return "." * (ups + 1) + rest
    return modules.python_name(target)


class ScriptSyntax:
    def statement_at(self, root: "Node", place: int) -> "Node | None":
        for child in root.named_children:
            if child.start_byte <= place < child.end_byte:
                inner = child.child_by_field_name("declaration") if child.type == "export_statement" else child
                if any(each.type == "default" for each in child.children):
                    raise Refusal("not_possible", "This is the default export; move it by hand. Nothing was changed.")
                if inner is not None and inner.type in ("lexical_declaration", "variable_declaration"):
                    return child if inner.named_child_count == 1 else None
                return child if inner is not None and inner.type.endswith("declaration") else None
        return None

    def imports(self, file: FileScopes) -> Iterator[ImportStatement]:
        for node in file.source.root.named_children:
            source = node.child_by_field_name("source")
            if node.type not in ("import_statement", "export_statement") or source is None:
                continue
            names = [each for each in descendants(node) if each.type in ("import_specifier", "export_specifier")]
            yield node, names, text_of(source)[1:-1]

    def imported_name(self, node: "Node") -> str:
        name = node.child_by_field_name("name")
        return text_of(name) if name is not None else ""

    def imports_only_names(self, statement: "Node") -> bool:
        """Whether the statement imports only the names in braces."""
        clause = next((each for each in statement.named_children if each.type == "import_clause"), None)
        return clause is None or clause.named_child_count == 1

    def redirect(self, statement: "Node", project: Project, importer: str, target: str, written: str) -> ByteEdit:
        source = statement.child_by_field_name("source")
        assert source is not None
        new = specifier(importer, target, written)
        return ByteEdit(source.start_byte + 1, source.end_byte - 1, new.encode())

    def extra_import(
        self, statement: "Node", part: str, project: Project, importer: str, target: str, written: str
    ) -> str:
        source = statement.child_by_field_name("source")
        quote = text_of(source)[0] if source is not None else '"'
        word = "export" if statement.type == "export_statement" else "import"
        kind = " type" if any(each.type == "type" for each in statement.children) else ""
        end = ";" if text_of(statement).endswith(";") else ""
        return f"{word}{kind} {{ {part} }} from {quote}{specifier(importer, target, written)}{quote}{end}"

    def import_line(self, project: Project, importer: str, target: str, name: str) -> str:
        quote, end, written = habits(project, importer)
        return f"import {{ {name} }} from {quote}{specifier(importer, target, written)}{quote}{end}"

    def import_for(self, binding: Binding, project: Project, source: str, target: str) -> str:
        imported = binding.imported
        if imported is None:
            file = project.files[source]
            if not any(each.name == binding.name and not each.aliased for each in file.exports):
                raise Refusal(
                    "not_possible",
                    f"It uses {binding.name} ({source}:{binding.line}), which {source} does not export. Nothing was "
                    "changed.",
                )
            return self.import_line(project, target, source, binding.name)
        quote, end, _ = habits(project, source)
        module = imported.module
        if module.startswith("."):
            path = project.modules.script(module, source)
            if path is None:
                place = posixpath.normpath(posixpath.join(posixpath.dirname(source), module))
                module = _relative(target, place)
            else:
                module = specifier(target, path, module)
        if imported.default:
            names = binding.name
        elif imported.name is None:
            names = f"* as {binding.name}"
        else:
            names = f"{{ {imported.name}{f' as {binding.name}' if imported.aliased else ''} }}"
        return f"import {names} from {quote}{module}{quote}{end}"

    def drop_imports(self, file: FileScopes, gone: set[str]) -> list[ByteEdit]:
        return script_imports.plan_edits(file, gone, sort=False).edits if gone else []

    def moved_text(
        self, block: "Node", inside: tuple[int, int], text: bytes, project: Project, source: str, target: str
    ) -> bytes:
        return text[slice(*inside)].rstrip()

    def exported_text(self, text: bytes) -> bytes:
        """Add `export`."""
        root = SourceText("a.tsx", text).root
        first = next((each for each in root.named_children if each.type != "comment"), None)
        if first is None or first.type == "export_statement":
            return text
        return text[: first.start_byte] + b"export " + text[first.start_byte :]

    def after_imports(self, text: bytes, path: str) -> int:
        place = 0
        for child in SourceText(path, text).root.named_children:
            if child.type == "import_statement":
                place = _line_end(text, child.end_byte)
        return place

    def is_guarded(self, binding: Binding, file: FileScopes) -> bool:
        return False

    def add_imports(self, text: bytes, new: NewImports, project: Project, path: str) -> bytes:
        return _insert_lines(text, new.plain, self.after_imports(text, path)) if new.plain else text

    def new_file(self, text: bytes, new: NewImports, project: Project, path: str, source: str) -> bytes:
        newline = newline_of(text)
        begin = newline.join(line.encode() for line in sorted(set(new.plain)))
        return (begin + newline * 3 if begin else b"") + text + newline


def habits(project: Project, path: str) -> tuple[str, str, str]:
    """Return a file's quotes, statement end and form of neighbour imports, else those of other files."""
    file = project.files.get(path)
    own = _written(file) if file is not None else []
    others = (each for name, other in project.files.items() if name != path for each in _written(other))
    neighbour = next((module for _, _, module in (*own, *others) if module.startswith((".", "@/", "~/"))), "./")
    if own:
        return own[0][0], own[0][1], neighbour
    text = file.source.text if file is not None else b";"
    return "'" if text.count(b"'") > text.count(b'"') else '"', ";" if b";" in text else "", neighbour


def _written(file: FileScopes) -> list[tuple[str, str, str]]:
    """Return the quotes, the end and the module of each import."""
    sources = (
        (node, node.child_by_field_name("source"))
        for node in file.source.root.named_children
        if node.type == "import_statement"
    )
    return [
        (text_of(source)[0], ";" if text_of(node).endswith(";") else "", text_of(source)[1:-1])
        for node, source in sources
        if source is not None
    ]


def specifier(importer: str, target: str, written: str) -> str:
    stem, suffix = posixpath.splitext(target)
    name = stem
    if written.startswith(".") and re.search(r"\.[mc]?[jt]sx?$", written):
        compiled = {".ts": ".js", ".tsx": ".js", ".mts": ".mjs", ".cts": ".cjs"}
        name = stem + (suffix if written.endswith((".ts", ".tsx")) else compiled.get(suffix, suffix))
    elif posixpath.basename(stem) == "index":
        name = posixpath.dirname(stem)
    if written.startswith(("@/", "~/")) and name.startswith("src/"):
        return written[:2] + name.removeprefix("src/")
    return _relative(importer, name)


def _relative(importer: str, place: str) -> str:
    path = posixpath.relpath(place or ".", posixpath.dirname(importer) or ".")
    return path if path.startswith(".") else f"./{path}"
