"""How each language writes import lines and statements, for moves."""

import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from tools.code import python_imports, script_imports
from tools.code.edits import ByteEdit, apply_edits, newline_of
from tools.code.modules import Modules
from tools.code.project import Project, Refusal
from tools.code.python_definitions import name_of
from tools.code.scopes import Binding, FileScopes
from tools.code.source import SourceText, descendants, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: A statement, the names it imports, and the module as it is written.
ImportStatement = tuple["Node", list["Node"], str | None]


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

    def add_imports(self, text: bytes, lines: list[str], path: str) -> bytes: ...


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
        return python_imports.plan_edits(file, gone, None).edits if gone else []

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
            elif child.type != "comment":
                break
        if place == 0:
            # Stay below an encoding or licence comment.
            for match in re.finditer(rb"(?:#[^\n]*\n)+", text):
                return match.end() if match.start() == 0 else 0
        return place

    def add_imports(self, text: bytes, lines: list[str], path: str) -> bytes:
        if not lines:
            return text
        place = self.after_imports(text, path)
        bare = not any("import" in each.type for each in SourceText(path, text[:place]).root.named_children)
        if bare and place > 0:
            lines = ["", *lines]
        return _insert_lines(text, lines, place)


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

    def add_imports(self, text: bytes, lines: list[str], path: str) -> bytes:
        return _insert_lines(text, lines, self.after_imports(text, path)) if lines else text


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
