"""Which file an import means. Only files of the workspace are found: the rest is nobody's to change."""

import posixpath
from collections.abc import Iterable

from tools.code.tree import PYTHON, SCRIPT

_INDEXES = tuple(f"index{suffix}" for suffix in SCRIPT)
#: What a compiled name stands for: TypeScript imports `./a.js` and means `./a.ts`.
_COMPILED = {
    ".js": (".ts", ".tsx", ".js", ".jsx"),
    ".jsx": (".tsx", ".jsx"),
    ".mjs": (".mts", ".mjs"),
    ".cjs": (".cts", ".cjs"),
}

#: Nothing is above these: an absolute path ends at its slash.
_TOPS = ("", "/")


class Modules:
    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = frozenset(paths)
        self._folders = {folder for path in self.paths for folder in _parents(path)}
        self._by_tail: dict[str, list[str]] = {}
        for path in self.paths:
            if path.endswith(PYTHON):
                self._by_tail.setdefault(path.rpartition("/")[2], []).append(path)

    # -- Python ------------------------------------------------------------------------------------------------------

    def python(self, module: str, importer: str) -> str | None:
        """The file or, for a package without an `__init__`, the folder (with a slash at its end)."""
        if module.startswith("."):
            rest = module.lstrip(".")
            folder = posixpath.dirname(importer)
            for _ in range(len(module) - len(rest) - 1):
                folder = posixpath.dirname(folder)
            return self._at(posixpath.join(folder, *rest.split(".")) if rest else folder)
        tail = module.replace(".", "/")
        for root in self._roots(importer):
            if found := self._at(posixpath.join(root, tail)):
                return found
        return self._by_end(tail)

    def submodule(self, package: str, name: str) -> str | None:
        folder = package.rstrip("/") if package.endswith("/") else posixpath.dirname(package)
        if not package.endswith("/") and not posixpath.basename(package).startswith("__init__."):
            return None
        return self._at(posixpath.join(folder, name))

    def _at(self, place: str) -> str | None:
        for path in (f"{place}.py", f"{place}/__init__.py" if place else "__init__.py", f"{place}.pyi"):
            if path in self.paths:
                return path
        return f"{place}/" if place in self._folders and place else None

    def _roots(self, importer: str) -> list[str]:
        """Where Python may look: beside the file's outermost package, above it, and in the usual places."""
        folder = posixpath.dirname(importer)
        while folder not in _TOPS and f"{folder}/__init__.py" in self.paths:
            folder = posixpath.dirname(folder)
        roots = [folder]
        while folder not in _TOPS:
            folder = posixpath.dirname(folder)
            roots.append(folder)
        return [*roots, "src", "lib"]

    def _by_end(self, tail: str) -> str | None:
        """A source root that nobody has heard of, if only one file can be meant."""
        if "/" not in tail:
            return None
        last = tail.rpartition("/")[2]
        ends = (f"/{tail}.py", f"/{tail}/__init__.py")
        found = [
            path
            for name in (f"{last}.py", "__init__.py")
            for path in self._by_tail.get(name, ())
            if path.endswith(ends)
        ]
        return found[0] if len(found) == 1 else None

    def python_name(self, path: str) -> str:
        """The dotted name under which a file is imported, from its outermost package on."""
        root = posixpath.dirname(path)
        while root not in _TOPS and f"{root}/__init__.py" in self.paths:
            root = posixpath.dirname(root)
        if root and not any(each.startswith(f"{root}/") for each in self.paths):
            root = ""
        name = path[len(root) + 1 if root else 0 :].rpartition(".")[0]
        return name.removesuffix("/__init__").replace("/", ".")

    # -- JavaScript and TypeScript -----------------------------------------------------------------------------------

    def script(self, module: str, importer: str) -> str | None:
        if module.startswith("."):
            return self._script_at(posixpath.normpath(posixpath.join(posixpath.dirname(importer), module)))
        if module.startswith(("@/", "~/")):
            return self._script_at(f"src/{module[2:]}") or self._script_at(module[2:])
        if module.startswith("src/"):
            return self._script_at(module)
        return None

    def _script_at(self, place: str) -> str | None:
        place = "" if place == "." else place
        if place in self.paths and place.endswith(SCRIPT):
            return place
        stem, suffix = posixpath.splitext(place)
        for candidate in (*(stem + each for each in _COMPILED.get(suffix, ())), *(place + each for each in SCRIPT)):
            if candidate in self.paths:
                return candidate
        for name in _INDEXES:
            if (found := posixpath.join(place, name)) in self.paths:
                return found
        return None


def _parents(path: str) -> Iterable[str]:
    folder = posixpath.dirname(path)
    while folder not in _TOPS:
        yield folder
        folder = posixpath.dirname(folder)
