"""Which file of the project an import means; what is none of its files comes from outside."""

from collections.abc import Collection
from functools import lru_cache
from posixpath import dirname, join, normpath

_SCRIPTS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte", ".json", ".css")
#: What bundlers commonly let stand for the folder of the sources.
_ALIASES = ("@/", "~/")
_SOURCES = ("src", "app", "")

#: Nothing is above these: an absolute path ends at its slash.
_TOPS = ("", "/")


class Modules:
    """The files of a project, found by the names that imports give them."""

    def __init__(self, files: Collection[str]) -> None:
        self._files = frozenset(files)
        self.python = lru_cache(maxsize=20_000)(self._python)
        self.script = lru_cache(maxsize=20_000)(self._script)

    def __contains__(self, path: str) -> bool:
        return path in self._files

    def holds(self, folder: str) -> bool:
        """Whether files of the project stand in that folder."""
        return any(path.startswith(f"{folder.strip('/')}/") for path in self._files)

    def _python(self, importer: str, module: str) -> str | None:
        """`a.b`, or `..a` relative to the importing file."""
        level = len(module) - len(module.lstrip("."))
        tail = module[level:].replace(".", "/")
        folder = dirname(importer)
        if level:
            for _ in range(level - 1):
                if not folder:
                    return None
                folder = dirname(folder)
            return self._module(join(folder, tail) if tail else folder)
        while True:
            # A folder that is a package is no place that absolute imports start from.
            if join(folder, "__init__.py") not in self._files:
                for root in (folder, join(folder, "src"), join(folder, "lib")):
                    if found := self._module(join(root, tail)):
                        return found
            if folder in _TOPS:
                return None
            folder = dirname(folder)

    def _module(self, place: str) -> str | None:
        place = place.strip("/")
        for path in (f"{place}.py", join(place, "__init__.py"), f"{place}.pyi"):
            if path in self._files:
                return path
        return None

    def _script(self, importer: str, specifier: str) -> str | None:
        specifier = specifier.partition("?")[0]
        if specifier.startswith("."):
            return self._script_at(normpath(join(dirname(importer), specifier)))
        for alias in _ALIASES:
            if specifier.startswith(alias):
                folder = dirname(importer)
                while True:
                    for root in _SOURCES:
                        if found := self._script_at(normpath(join(folder, root, specifier.removeprefix(alias)))):
                            return found
                    if folder in _TOPS:
                        return None
                    folder = dirname(folder)
        return None

    def _script_at(self, place: str) -> str | None:
        place = "" if place == "." else place
        if place in self._files:
            return place
        stem = place.rpartition(".")[0] if place.endswith((".js", ".jsx", ".mjs", ".cjs")) else place
        for ending in _SCRIPTS:
            for path in (f"{place}{ending}", f"{stem}{ending}", join(place, f"index{ending}")):
                if path in self._files:
                    return path
        return None


def is_test(path: str) -> bool:
    folders, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return (
        stem.startswith("test_")
        or stem.endswith(("_test", "_spec", "Test", "Tests"))
        or ".test." in name
        or ".spec." in name
        or name == "conftest.py"
        or any(part in ("tests", "test", "__tests__", "spec", "e2e") for part in folders.split("/"))
    )
