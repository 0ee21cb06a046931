"""Reads the scripts and packages that a package.json declares."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from tools.errors import ToolError
from tools.parsed import parse_json

_SIZE = 1 << 20


class _Files(Protocol):
    async def read(self, path: str, limit: int) -> bytes: ...


class NodePackage(NamedTuple):
    scripts: Mapping[str, str] = {}
    #: What it depends on, also for development.
    packages: frozenset[str] = frozenset()


async def read_package(files: _Files, folder: str = "") -> NodePackage:
    """Return an empty package if there is no package.json or it can't be read."""
    try:
        declared = parse_json(await files.read(f"{folder}/package.json" if folder else "package.json", _SIZE))
    except (ToolError, ValueError):
        return NodePackage()
    if not isinstance(declared, dict):
        return NodePackage()
    tables = [declared.get(name) for name in ("scripts", "dependencies", "devDependencies")]
    scripts, *needs = [table if isinstance(table, dict) else {} for table in tables]
    return NodePackage(
        {name: script for name, script in scripts.items() if isinstance(script, str) and script},
        frozenset(name for table in needs for name in table),
    )
