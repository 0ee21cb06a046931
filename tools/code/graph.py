"""The import graph of a project, read from import lines: fast enough for a whole project."""

import asyncio
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import basename, dirname

from sidecar.wire.text import plural
from tools.code.files import MatchingLine, matching_lines
from tools.code.manifest import read_text
from tools.code.modules import Modules
from tools.host import Host
from tools.spec import Call
from tools.test_files import is_test

_PYTHON_LINE = r"^\s*(?:from\s+[.\w]+\s+import\s|import\s+[\w.]+)"
_SCRIPT_LINE = r"""(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)['"][^'"\s]+['"]"""
_GO_LINE = r"""^\s*(?:import\s+)?(?:[\w.]+\s+)?"[^"\s]+"\s*(?://.*)?$"""
_PYTHON_GLOBS = ("*.py", "*.pyi")
_SCRIPT_GLOBS = ("*.ts", "*.tsx", "*.mts", "*.cts", "*.js", "*.jsx", "*.mjs", "*.cjs", "*.vue", "*.svelte")
_FROM = re.compile(r"^\s*from\s+([.\w]+)\s+import\s+(.*)$")
_IMPORT = re.compile(r"^\s*import\s+(.*)$")
_SPECIFIER = re.compile(r"""(?:from|import|require)\s{0,50}\(?\s{0,50}['"]([^'"\s]+)['"]""")
_LINES = 100_000

NODES = 14
_EDGES = 40
_DEEPEST = 4


@dataclass(slots=True)
class Graph:
    """`edges[a]` are the files that `a` imports; `outside[a]` the packages that it imports from elsewhere."""

    edges: dict[str, set[str]] = field(default_factory=dict)
    outside: dict[str, set[str]] = field(default_factory=dict)
    #: Modules of Python's standard library that files import.
    standard: set[str] = field(default_factory=set)
    _importers: dict[str, set[str]] = field(default_factory=dict)

    def importers(self, path: str) -> set[str]:
        return {importer for importer, imported in self.edges.items() if path in imported}

    def packages(self) -> Counter[str]:
        """Count the files that import each outside package."""
        return Counter(name for names in self.outside.values() for name in names if not name.startswith("node:"))

    def affected(self, paths: Iterable[str], depth: int) -> list[set[str]]:
        """Return the importers of these files, their importers, and so on: one set for each step."""
        known, levels = set(paths), []
        if not self._importers:
            for importer, imported in self.edges.items():
                for each in imported:
                    self._importers.setdefault(each, set()).add(importer)
        frontier = set(known)
        for _ in range(depth):
            frontier = {each for one in frontier for each in self._importers.get(one, ())} - known
            if not frontier:
                break
            levels.append(frontier)
            known |= frontier
        return levels

    def add(self, importer: str, file: str | None, package: str) -> None:
        if file is not None and file != importer:
            self.edges.setdefault(importer, set()).add(file)
        elif file is None and package:
            self.outside.setdefault(importer, set()).add(package)


async def import_graph(host: Host, call: Call, modules: Modules) -> Graph:
    graph = Graph()
    python = await matching_lines(host, call, _PYTHON_LINE, _PYTHON_GLOBS)
    scripts = await matching_lines(host, call, _SCRIPT_LINE, _SCRIPT_GLOBS)
    roots = await _go_modules(host, modules)
    go = await matching_lines(host, call, _GO_LINE, ("*.go",)) if roots else []

    def add_all() -> None:
        for line in python[:_LINES]:
            for module, names in _python_modules(line.text):
                _add_python(graph, line.path, module, names, modules)
        for line in scripts[:_LINES]:
            for specifier in _SPECIFIER.findall(line.text):
                graph.add(line.path, modules.script(specifier, line.path), script_package(specifier))
        _add_go(graph, go, roots, modules)

    await asyncio.to_thread(add_all)
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
        # A name imported from a package may be one of its modules.
        inner = [modules.python(f"{module}{'' if module.endswith('.') else '.'}{name}", path) for name in names]
        found = [each for each in inner if each is not None]
        for each in found:
            graph.add(path, each, "")
        if found and len(found) == len(names):
            return
    package = "" if module.startswith(".") else module.partition(".")[0]
    if package not in sys.stdlib_module_names:
        graph.add(path, file, package)
    elif file is None:
        graph.standard.add(package)
    else:
        graph.add(path, file, "")


def script_package(specifier: str) -> str:
    """Return the package of `@scope/name/deep`; empty for a relative path."""
    if specifier.startswith((".", "/", "@/", "~/", "#")):
        return ""
    return "/".join(specifier.split("/")[: 2 if specifier.startswith("@") else 1])


async def _go_modules(host: Host, modules: Modules) -> dict[str, str]:
    """Return the Go modules of the project, each with its folder."""
    found = {}
    for path in await asyncio.to_thread(lambda: [each for each in modules.paths if basename(each) == "go.mod"]):
        if name := re.search(r"^module\s+(\S+)", await read_text(host, path), re.M):
            found[name[1]] = dirname(path)
    return found


def _add_go(graph: Graph, lines: Iterable[MatchingLine], roots: Mapping[str, str], modules: Modules) -> None:
    packages: dict[str, list[str]] = {}
    for path in modules.paths:
        if path.endswith(".go") and not path.endswith("_test.go"):
            packages.setdefault(dirname(path), []).append(path)
    for line in lines:
        imported = line.text.split('"')[1]
        for module, folder in roots.items():
            if imported == module or imported.startswith(f"{module}/"):
                place = f"{folder}{imported.removeprefix(module)}".strip("/")
                if place == dirname(line.path) and not line.path.endswith("_test.go"):
                    continue  # no package imports itself: this line is part of a comment or a text
                for file in packages.get(place, ()):
                    graph.add(line.path, file, "")


def go_package(path: str, modules: Modules) -> list[str]:
    """The other files of a Go file's package, which use it without an import."""
    if not path.endswith(".go"):
        return []
    folder = dirname(path)
    return sorted(each for each in modules.paths if each.endswith(".go") and dirname(each) == folder and each != path)


def describe_go_package(others: Sequence[str]) -> str:
    if not others:
        return ""
    code = [each for each in others if not each.endswith("_test.go")]
    return (
        f" Go imports packages, not files: the {plural(len(others), 'other file')} of its package "
        f"({len(code)} without the tests) can use it without an import."
    )


def mermaid(graph: Graph) -> tuple[str, str]:
    """Draw which folder imports which, and say what is left out. Empty if no folder imports another."""
    # Tests import everything and would hide the rest.
    edges_of = {path: imported for path, imported in graph.edges.items() if not is_test(path)}
    files = {*edges_of, *(each for imported in edges_of.values() for each in imported)}
    folder_of = _choose_folders(files)
    weights: Counter[tuple[str, str]] = Counter()
    for importer, imported in edges_of.items():
        for each in imported:
            if folder_of[importer] != folder_of[each]:
                weights[folder_of[importer], folder_of[each]] += 1
    sizes: Counter[str] = Counter()
    for (one, other), weight in weights.items():
        sizes[one] += weight
        sizes[other] += weight
    shown = {name for name, _ in sizes.most_common(NODES)}
    edges = [(pair, weight) for pair, weight in weights.most_common() if shown.issuperset(pair)]
    if not edges:
        return "", ""
    names = {name: f"n{number}" for number, name in enumerate(sorted(shown), 1)}
    lines = ["graph LR", *(f'  {names[name]}["{_label(name)}"]' for name in sorted(shown))]
    lines += [f"  {names[one]} -->|{weight}| {names[other]}" for (one, other), weight in sorted(edges[:_EDGES])]
    left = []
    if len(sizes) > len(shown):
        left.append(f"{plural(len(sizes) - len(shown), 'smaller folder')}")
    if len(edges) > _EDGES:
        left.append(f"{plural(len(edges) - _EDGES, 'weaker edge')}")
    return "\n".join(lines), " and ".join(left)


def _choose_folders(files: Collection[str]) -> dict[str, str]:
    """Return the folder that represents each file: the shallowest depth that splits the project well."""
    for depth in range(1, _DEEPEST + 1):
        chosen = {path: _cut(path, depth) for path in files}
        counts = Counter(chosen.values())
        largest = counts.most_common(1)[0][1] if counts else 0
        if len(counts) >= NODES // 2 or (len(counts) > 2 and largest < 0.6 * len(files)):
            return chosen
    return {path: _cut(path, _DEEPEST) for path in files}


def _cut(path: str, depth: int) -> str:
    return "/".join(path.split("/")[:-1][:depth]) or "."


def _label(name: str) -> str:
    """Escape a name for Mermaid."""
    return "".join(char if char.isalnum() or char in "/._-@+ " else f"#{ord(char)};" for char in name) or "."
