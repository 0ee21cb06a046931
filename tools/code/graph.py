"""Which file imports which, read from the lines that import: quick enough for a whole project."""

import re
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tools.code.files import Line, matching
from tools.code.modules import Modules
from tools.host import Host
from tools.spec import Call

_PYTHON_LINE = r"^\s*(?:from\s+[.\w]+\s+import\s|import\s+[\w.]+)"
_SCRIPT_LINE = r"""(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)['"][^'"\s]+['"]"""
_PYTHON_GLOBS = ("*.py", "*.pyi")
_SCRIPT_GLOBS = ("*.ts", "*.tsx", "*.mts", "*.cts", "*.js", "*.jsx", "*.mjs", "*.cjs", "*.vue", "*.svelte")
_FROM = re.compile(r"^\s*from\s+([.\w]+)\s+import\s+(.*)$")
_IMPORT = re.compile(r"^\s*import\s+(.*)$")
_SPECIFIER = re.compile(r"""(?:from|import|require)\s*\(?\s*['"]([^'"\s]+)['"]""")
_LINES = 100_000


@dataclass(slots=True)
class Graph:
    """`edges[a]` are the files that `a` imports; `outside[a]` what it imports from elsewhere, by package."""

    edges: dict[str, set[str]] = field(default_factory=dict)
    outside: dict[str, set[str]] = field(default_factory=dict)
    #: The same edges, the other way round; made when first asked for.
    _importers: dict[str, set[str]] = field(default_factory=dict)

    def importers(self, path: str) -> set[str]:
        return {importer for importer, imported in self.edges.items() if path in imported}

    def packages(self) -> Counter[str]:
        """What comes from elsewhere, by how many files import it; the language's own library is left out."""
        return Counter(name for names in self.outside.values() for name in names if not name.startswith("node:"))

    def affected(self, path: str, depth: int) -> list[set[str]]:
        """Who imports it, who imports those, and so on: one set for each step away."""
        known, levels = {path}, []
        if not self._importers:
            for importer, imported in self.edges.items():
                for each in imported:
                    self._importers.setdefault(each, set()).add(importer)
        frontier = {path}
        for _ in range(depth):
            frontier = {each for one in frontier for each in self._importers.get(one, ())} - known
            if not frontier:
                break
            levels.append(frontier)
            known |= frontier
        return levels


async def import_graph(host: Host, call: Call, modules: Modules) -> Graph:
    python = await matching(host, call, _PYTHON_LINE, _PYTHON_GLOBS)
    script = await matching(host, call, _SCRIPT_LINE, _SCRIPT_GLOBS)
    return graph_of(python[:_LINES], script[:_LINES], modules)


def graph_of(python: Iterable[Line], script: Iterable[Line], modules: Modules) -> Graph:
    graph = Graph()
    for line in python:
        for module, names in _python_modules(line.text):
            _add_python(graph, line.path, module, names, modules)
    for line in script:
        for specifier in _SPECIFIER.findall(line.text):
            _add(graph, line.path, modules.script(specifier, line.path), script_package(specifier))
    return graph


def _python_modules(text: str) -> list[tuple[str, list[str]]]:
    if found := _FROM.match(text):
        names = [name.split(" as ")[0].strip(" ()\\") for name in found[2].partition("#")[0].split(",")]
        return [(found[1], [name for name in names if name.isidentifier()])]
    if found := _IMPORT.match(text):
        parts = [part.split(" as ")[0].strip() for part in found[1].partition("#")[0].split(",")]
        return [(part, []) for part in parts if re.fullmatch(r"[\w.]+", part)]
    return []


def _add_python(graph: Graph, path: str, module: str, names: list[str], modules: Modules) -> None:
    file = modules.python(module, path)
    if file is None or file.endswith("__init__.py"):
        # What is imported from a package may be one of its modules.
        inner = [modules.python(f"{module}{'' if module.endswith('.') else '.'}{name}", path) for name in names]
        found = [each for each in inner if each is not None]
        for each in found:
            _add(graph, path, each, "")
        if found and len(found) == len(names):
            return
    package = "" if module.startswith(".") else module.partition(".")[0]
    _add(graph, path, file, "" if package in sys.stdlib_module_names else package)


def script_package(specifier: str) -> str:
    """`@scope/name/deep` is @scope/name; a relative path is no package."""
    if specifier.startswith((".", "/", "@/", "~/", "#")):
        return ""
    return "/".join(specifier.split("/")[: 2 if specifier.startswith("@") else 1])


def _add(graph: Graph, importer: str, file: str | None, package: str) -> None:
    if file is not None and file != importer:
        graph.edges.setdefault(importer, set()).add(file)
    elif file is None and package:
        graph.outside.setdefault(importer, set()).add(package)
