"""Finds the files that import statements mean."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from posixpath import basename, dirname, join, normpath
from typing import NamedTuple

from sidecar.memory.imports import ImportRow
from tools.code.modules import Modules

_GO_MODULE = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*//.*$", re.MULTILINE)
_TRAILING = re.compile(r",(\s*[}\]])")
_ENTRIES = ("src/index", "index", "src/main", "lib/index", "src/lib")
_MANIFESTS = ("package.json", "go.mod", "tsconfig.json", "tsconfig.base.json", "jsconfig.json")


class Edge(NamedTuple):
    """`target` is a path, or for Go a folder that ends with a slash. An empty `name` is the whole module."""

    target: str
    name: str
    certain: bool = True


def is_manifest(path: str) -> bool:
    return basename(path) in _MANIFESTS


class Resolver:
    def __init__(self, paths: Iterable[str], read: Callable[[str], str]) -> None:
        """`read` returns a file's text, empty if it can't be read."""
        self._modules = Modules(paths)
        self._read = read
        self._packages: dict[str, str] = {}
        self._aliases: list[tuple[str, str, str]] = []
        self._go: list[tuple[str, str]] = []
        self._go_folders: set[str] = set()
        self._java: dict[str, list[str]] = {}
        for path in self._modules.paths:
            self._note(path)
        self._go.sort(key=lambda each: -len(each[0]))

    def _note(self, path: str) -> None:
        name = basename(path)
        if name == "package.json":
            package = _json(self._read(path)).get("name")
            if isinstance(package, str) and package:
                self._packages.setdefault(package, dirname(path))
        elif name.startswith(("tsconfig", "jsconfig")) and name.endswith(".json"):
            self._note_aliases(path)
        elif name == "go.mod" and (found := _GO_MODULE.search(self._read(path))):
            self._go.append((found[1], dirname(path)))
        elif name.endswith(".go"):
            self._go_folders.add(dirname(path))
        elif name.endswith(".java"):
            self._java.setdefault(name.removesuffix(".java"), []).append(path)

    def _note_aliases(self, path: str) -> None:
        options = _json(self._read(path)).get("compilerOptions")
        options = options if isinstance(options, dict) else {}
        base = options.get("baseUrl")
        folder = normpath(join(dirname(path), base if isinstance(base, str) else "."))
        paths = options.get("paths")
        for pattern, targets in paths.items() if isinstance(paths, dict) else ():
            for target in targets if isinstance(targets, list) else ():
                if isinstance(target, str):
                    self._aliases.append((dirname(path), pattern, normpath(join(folder, target))))

    def unit(self, path: str) -> str:
        """What an import of this file names: in Go, its package."""
        return unit_of(path)

    def resolve(self, each: ImportRow, importer: str) -> Iterator[Edge]:
        if importer.endswith((".py", ".pyi")):
            yield from self._python(each, importer)
        elif importer.endswith(".go"):
            yield from self._go_package(each)
        elif importer.endswith(".rs"):
            yield from self._rust(each, importer)
        elif importer.endswith(".java"):
            yield from self._java_class(each)
        elif importer.endswith((".c", ".h", ".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx")):
            place = normpath(join(dirname(importer), each.module))
            if place in self._modules:
                yield Edge(place, "")
        elif (found := self._script(each.module, importer)) is not None:
            yield from _named(found, each)

    # -- Python ------------------------------------------------------------------------------------------------------

    def _python(self, each: ImportRow, importer: str) -> Iterator[Edge]:
        if each.name and each.name != "*":
            inner = f"{each.module}{'' if each.module.endswith('.') else '.'}{each.name}"
            found = self._modules.python(inner, importer)
            if found is not None and found != importer and self._is_submodule(each, found, importer):
                yield Edge(found, each.member)
                return
            if each.member:
                return  # a member of a class or a function, not of a module
        found = self._modules.python(each.module, importer)
        if found is not None and found != importer:
            yield Edge(found, each.member or each.name)

    def _is_submodule(self, each: ImportRow, found: str, importer: str) -> bool:
        """A name defined in the package's `__init__` hides the module of that name; modules are the usual case."""
        package = self._modules.python(each.module, importer)
        return (
            package is None or package.endswith(("__init__.py", "__init__.pyi")) or dirname(package) == dirname(found)
        )

    # -- JavaScript and TypeScript -----------------------------------------------------------------------------------

    def _script(self, module: str, importer: str) -> str | None:
        found = self._modules.script(module, importer)
        if found is not None or module.startswith((".", "/", "node:")):
            return found
        for scope, pattern, target in self._aliases:
            if scope and not importer.startswith(f"{scope}/"):
                continue
            before, star, after = pattern.partition("*")
            if not star and module == pattern:
                place = target
            elif star and module.startswith(before) and module.endswith(after):
                place = target.replace("*", module[len(before) : len(module) - len(after) or None])
            else:
                continue
            if found := self._script_at(place):
                return found
        return self._package_file(module)

    def _package_file(self, module: str) -> str | None:
        """A package of this workspace, by its name."""
        parts = module.split("/")
        name = "/".join(parts[: 2 if module.startswith("@") else 1])
        folder, inner = self._packages.get(name), module[len(name) + 1 :]
        if folder is None:
            return None
        places = [inner, f"src/{inner}"] if inner else list(_ENTRIES)
        return next((found for place in places if (found := self._script_at(join(folder, place)))), None)

    def _script_at(self, place: str) -> str | None:
        return self._modules.script(f"./{place}", "x.ts")

    # -- Go, Rust, Java ----------------------------------------------------------------------------------------------

    def _go_package(self, each: ImportRow) -> Iterator[Edge]:
        for module, folder in self._go:
            if each.module == module or each.module.startswith(f"{module}/"):
                place = normpath(join(folder, each.module[len(module) + 1 :]))
                place = "" if place == "." else place
                if place in self._go_folders:
                    yield Edge(f"{place}/", each.member)
                return

    def _rust(self, each: ImportRow, importer: str) -> Iterator[Edge]:
        """The longest part of the path that is a file; what is left of it is a name in there."""
        parts = [*each.module.split("::"), *([each.name] if each.name else [])]
        folder = dirname(importer)
        if basename(importer) not in ("mod.rs", "lib.rs", "main.rs"):
            folder = importer.removesuffix(".rs")
        if parts[0] == "crate":
            folder, parts = self._crate(importer), parts[1:]
        elif parts[0] in ("self", "super"):
            while parts and parts[0] in ("self", "super"):
                folder = dirname(folder) if parts[0] == "super" else folder
                parts = parts[1:]
        elif not self._rust_file(join(folder, parts[0])):
            folder = self._crate(importer) if self._rust_file(join(self._crate(importer), parts[0])) else ""
            if not folder:
                return
        for length in range(len(parts), 0, -1):
            found = self._rust_file(join(folder, *parts[:length]))
            if found is not None and found != importer:
                yield Edge(found, parts[length] if length < len(parts) else "")
                return

    def _crate(self, importer: str) -> str:
        folder = dirname(importer)
        while folder:
            if f"{folder}/lib.rs" in self._modules or f"{folder}/main.rs" in self._modules:
                return folder
            folder = dirname(folder)
        return folder

    def _rust_file(self, place: str) -> str | None:
        return next((path for path in (f"{place}.rs", f"{place}/mod.rs") if path in self._modules), None)

    def _java_class(self, each: ImportRow) -> Iterator[Edge]:
        if each.module.endswith(".*"):
            folder = each.module.removesuffix(".*").replace(".", "/")
            for paths in self._java.values():
                yield from (Edge(path, "", certain=False) for path in paths if dirname(path).endswith(folder))
            return
        parts = each.module.split(".")
        for length in range(len(parts), 0, -1):  # the rest are nested classes
            end = "/".join(parts[:length]) + ".java"
            found = [path for path in self._java.get(parts[length - 1], ()) if f"/{path}".endswith(f"/{end}")]
            if found:
                yield Edge(found[0], each.name or parts[-1], certain=len(found) == 1)
                return


def unit_of(path: str) -> str:
    if not path.endswith(".go"):
        return path
    return f"{dirname(path)}/"


def _named(target: str, each: ImportRow) -> Iterator[Edge]:
    if each.member:
        yield Edge(target, each.member)
    else:
        yield Edge(target, each.name)


def _json(text: str) -> dict[str, object]:
    """JSON with comments and trailing commas, as in tsconfig.json."""
    for attempt in (text, _TRAILING.sub(r"\1", _COMMENT.sub("", text))):
        try:
            found = json.loads(attempt)
        except (ValueError, RecursionError):
            continue
        return found if isinstance(found, dict) else {}
    return {}
