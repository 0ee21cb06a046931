"""The paths that programs leave behind or install: they are no part of a project's source.

Caches and byte code count nowhere: not as a change, a file to offer, or code to review. Installed packages and build
output are skipped by listings, searches and reviews; a path that names one of them explicitly still works.
"""

import asyncio
import re
from collections.abc import Iterable
from itertools import pairwise

from tools.errors import ToolError
from tools.host import Host

#: For the descriptions of tools.
LEFT_OUT = "ignored, installed and generated files are skipped."
_CACHE_NAMES = """
__pycache__ .pytest_cache .mypy_cache .ruff_cache .pytype .pyre .hypothesis .cache .ipynb_checkpoints .parcel-cache
.turbo .next .nuxt .svelte-kit .vite .vitest .angular .gradle .nyc_output .sass-cache .dart_tool .scannerwork htmlcov
.import_linter_cache .benchmarks
"""
_CACHE_FILE_NAMES = ".coverage .DS_Store Thumbs.db .eslintcache .stylelintcache .dmypy.json"
_INSTALLED_NAMES = "node_modules bower_components .venv venv site-packages .tox .nox .eggs"
#: Version control keeps its own data there.
VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".jj"})
#: Programs generate them again when needed; no one wants them back.
CACHE_FOLDERS = frozenset(_CACHE_NAMES.split())
_CACHE_FILES = frozenset(_CACHE_FILE_NAMES.split())
_CACHE_SUFFIXES = (".pyc", ".pyo", "$py.class", ".tsbuildinfo")
#: Packages of others, installed by a program.
INSTALLED_FOLDERS = frozenset(_INSTALLED_NAMES.split())
#: Build output at the top of the workspace or beside a manifest; elsewhere it may well be source.
_BUILT_FOLDERS = frozenset({"dist", "target"})
_MAY_BE_BUILT = re.compile(rf"(?:^|/)(?:{'|'.join(sorted(_BUILT_FOLDERS))})/").search
#: Paths that are looked at before other tasks go on.
_AT_ONCE = 2_000
#: Copies of the source that Python's build leaves behind; the rest of a `build` folder may well be source.
_BUILT_COPIES = ("build/lib", "build/lib.*", "build/temp.*", "build/bdist.*")
_MANIFESTS = frozenset({"package.json", "pyproject.toml", "setup.py", "Cargo.toml", "pom.xml", "build.sbt"})
#: Folders that are always skipped, wherever they are.
_SKIPPED_FOLDERS = CACHE_FOLDERS | INSTALLED_FOLDERS


def is_cache(path: str) -> bool:
    """Whether a path is a cache or byte code, or inside one; a folder's path may end with a slash."""
    parts = path.rstrip("/").split("/")
    return is_cache_name(parts[-1]) or not CACHE_FOLDERS.isdisjoint(parts)


def is_cache_name(name: str) -> bool:
    """Whether a file or folder of this name is a cache or byte code."""
    return (
        name in CACHE_FOLDERS or name in _CACHE_FILES or name.startswith(".coverage.") or name.endswith(_CACHE_SUFFIXES)
    )


def is_skipped(path: str, *, below: str = "") -> bool:
    """Whether a listing skips a path of the workspace.

    Only the part below a folder counts: a caller that names a folder wants to see what is in it.
    """
    folder = "" if below in ("", ".") else f"{below.strip('/')}/"
    parts = path.rstrip("/").removeprefix("./").removeprefix(folder).split("/")
    return (
        is_cache_name(parts[-1])
        or not _SKIPPED_FOLDERS.isdisjoint(parts)
        or not VERSION_CONTROL.isdisjoint(parts)
        or (not folder and parts[0] in _BUILT_FOLDERS and (len(parts) > 1 or path.endswith("/")))
        or ("build" in parts and any(_is_built_copy(*pair) for pair in pairwise(parts)))
    )


def _is_built_copy(folder: str, name: str) -> bool:
    return folder == "build" and (name == "lib" or name.startswith(("lib.", "temp.", "bdist.")))


def skip_globs(folder: str = ".", named: str = "") -> list[str]:
    """The arguments that make ripgrep skip these paths below a folder, except those that a pattern names itself."""
    words = frozenset(named.split("/"))
    names = [*(f"{name}/" for name in sorted(_SKIPPED_FOLDERS)), *_BUILT_COPIES]
    if folder in ("", "."):
        names += [f"/{name}/" for name in sorted(_BUILT_FOLDERS)]
    names += [*sorted(_CACHE_FILES), ".coverage.*", *(f"*{suffix}" for suffix in _CACHE_SUFFIXES)]
    wanted = [name for name in names if words.isdisjoint(name.strip("/").split("/"))]
    return [f"--glob=!{name}" for name in [*wanted, *sorted(VERSION_CONTROL)]]


async def without_build_output(host: Host, paths: Iterable[str], folder: str = ".", named: str = "") -> list[str]:
    """Drop the paths in build output that ripgrep can't know: a `dist` beside a manifest."""
    verdicts: dict[str, bool] = {}
    words = frozenset(named.split("/"))
    start = 0 if folder in ("", ".") else folder.strip("/").count("/") + 1
    kept: list[str] = []
    for number, path in enumerate(paths, 1):
        if number % _AT_ONCE == 0:
            await asyncio.sleep(0)  # other tasks go on
        if not _MAY_BE_BUILT(path):
            kept.append(path)
            continue
        parts = path.split("/")
        built = False
        for place in range(start, len(parts) - 1):
            if parts[place] in _BUILT_FOLDERS and parts[place] not in words:
                parent = "/".join(parts[:place])
                if parent not in verdicts:
                    verdicts[parent] = await _has_manifest(host, parent)
                built = built or verdicts[parent]
        if not built:
            kept.append(path)
    return kept


async def _has_manifest(host: Host, folder: str) -> bool:
    try:
        return not _MANIFESTS.isdisjoint(await host.names(folder or "."))
    except ToolError:
        return False
