"""Resolve imports to files of the project."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from posixpath import basename, dirname, join, normpath, splitext

#: In the order in which TypeScript and bundlers try them.
_ENDINGS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte", ".json", ".css")
#: TypeScript imports `./a.js` and means `./a.ts`.
_COMPILED = {
    ".js": (".ts", ".tsx", ".d.ts", ".jsx"),
    ".jsx": (".tsx",),
    ".mjs": (".mts",),
    ".cjs": (".cts",),
}
#: Common bundler aliases for the source folder, and its usual names.
_ALIASES = ("@/", "~/")
_SOURCES = ("src", "app", "")
#: Usual Python source roots.
_ROOTS = ("", "src/", "lib/")
#: Top folders, of relative and of absolute paths.
_TOPS = ("", "/")
_REMEMBERED = 4_000


def _module_path(path: str) -> str:
    """The path that names a module: of its file without the suffix, or of its folder."""
    stem = path.rpartition(".")[0]
    return dirname(path) if path.endswith((".go", "/__init__.py", "/index.ts", "/index.js")) else stem


class Modules:
    """The files of a project, found by import names; None means outside the project."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = frozenset(paths)
        self._pythons = lru_cache(maxsize=_REMEMBERED)(self._python)
        self._packages = lru_cache(maxsize=_REMEMBERED)(self._package)
        self.script = lru_cache(maxsize=_REMEMBERED)(self._script)

    def __contains__(self, path: str) -> bool:
        return path in self.paths

    def holds(self, folder: str) -> bool:
        """Whether the project has files in or below that folder."""
        return folder.strip("/") in self._folders

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(folder for path in self.paths for folder in _above(path) if folder not in _TOPS)

    def inside(self, folder: str) -> list[str]:
        """The files in that folder, without those below it."""
        return sorted(path for path in self.paths if dirname(path) == folder.strip("/"))

    def named(self, name: str) -> list[str]:
        """The files of the modules with this dotted name, or one that ends with it."""
        end = f"/{name.replace('.', '/')}"
        return sorted(path for path in self.paths if f"/{_module_path(path)}".endswith(end))

    # -- Python ------------------------------------------------------------------------------------------------------

    def python(self, module: str, importer: str) -> str | None:
        """Return the file of `a.b`, or of `..a` relative to the importer."""
        return self._pythons(module, _any_in_folder(importer))

    def package(self, module: str, importer: str) -> str | None:
        """Like `python`, but return `folder/` for a package without an `__init__`."""
        return self._packages(module, _any_in_folder(importer))

    def _python(self, module: str, importer: str) -> str | None:
        found = (self._file(place) for place in self._places(module, importer))
        return next(filter(None, found), None) or self._by_end(module)

    def _package(self, module: str, importer: str) -> str | None:
        for place in self._places(module, importer):
            if found := self._file(place) or (f"{place}/" if place in self._folders else None):
                return found
        return self._by_end(module)

    def submodule(self, package: str, name: str) -> str | None:
        if not package.endswith("/") and not basename(package).startswith("__init__."):
            return None
        place = join(dirname(package), name)
        return self._file(place) or (f"{place}/" if place in self._folders else None)

    def python_name(self, path: str) -> str:
        """Return the dotted name of a file, from its outermost package on."""
        root = next(folder for folder in _above(path) if folder in _TOPS or f"{folder}/__init__.py" not in self.paths)
        name = path[len(root) + 1 if root not in _TOPS else 0 :].rpartition(".")[0]
        return name.removesuffix("/__init__").replace("/", ".")

    def _places(self, module: str, importer: str) -> Iterator[str]:
        """Yield candidate paths of a module without suffix, nearest first."""
        level = len(module) - len(module.lstrip("."))
        tail = module[level:].replace(".", "/")
        folders = list(_above(importer))
        if level:
            if level <= len(folders):
                yield join(folders[level - 1], tail).rstrip("/")
            return
        for folder in folders:
            # Absolute imports do not start inside a package.
            if folder in _TOPS or f"{folder}/__init__.py" not in self.paths:
                yield from (f"{_prefix(folder)}{root}{tail}" for root in _ROOTS)

    def _file(self, place: str) -> str | None:
        for path in (f"{place}.py", f"{_prefix(place)}__init__.py", f"{place}.pyi"):
            if path in self.paths:
                return path
        return None

    def _by_end(self, module: str) -> str | None:
        """Find a module in an unknown source root, if only one file fits."""
        place = module.replace(".", "/")
        if "/" not in place or module.startswith("."):
            return None
        found = [*self._ending(f"/{place}.py"), *self._ending(f"/{place}/__init__.py")]
        return found[0] if len(found) == 1 else None

    def _ending(self, end: str) -> Iterator[str]:
        """The Python files whose path ends like this."""
        start = end[::-1]
        for place in range(bisect_left(self._reversed, start), len(self._reversed)):
            if not self._reversed[place].startswith(start):
                return
            yield self._reversed[place][-2::-1]

    @cached_property
    def _reversed(self) -> list[str]:
        """All Python files, backwards and sorted: those with the same end follow each other."""
        return sorted(f"/{path}"[::-1] for path in self.paths if path.endswith(".py"))

    # -- JavaScript and TypeScript -----------------------------------------------------------------------------------

    def _script(self, module: str, importer: str) -> str | None:
        specifier = module.partition("?")[0]  # a bundler's query
        if specifier.startswith("."):
            return self._script_at(normpath(join(dirname(importer), specifier)))
        if specifier.startswith(_ALIASES):
            places = (join(folder, root, specifier[2:]) for folder in _above(importer) for root in _SOURCES)
        elif specifier.startswith("src/"):
            places = (join(folder, specifier) for folder in _above(importer))
        else:
            return None
        return next((found for place in places if (found := self._script_at(normpath(place)))), None)

    def _script_at(self, place: str) -> str | None:
        place = "" if place == "." else place
        if place in self.paths:
            return place
        stem, ending = splitext(place)
        for each in _COMPILED.get(ending, ()):
            if stem + each in self.paths:
                return stem + each
        for each in _ENDINGS:
            if place + each in self.paths:
                return place + each
        if place and place not in self._folders:
            return None
        return next((path for each in _ENDINGS if (path := join(place, f"index{each}")) in self.paths), None)


def _any_in_folder(path: str) -> str:
    """One name for all files of a folder: a Python module means the same in each."""
    return join(dirname(path), "_")


def _prefix(folder: str) -> str:
    """The prefix of a name in a folder. Much faster than `join`, which counts for many imports."""
    return folder if folder in _TOPS else f"{folder}/"


def _above(path: str) -> Iterable[str]:
    """Return the folder of a file and all folders above it."""
    folder = dirname(path)
    while folder not in _TOPS:
        yield folder
        folder = dirname(folder)
    yield folder
