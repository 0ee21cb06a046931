"""Commands that a repository can be granted by kind: installs from its package manager's registry."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Manager(NamedTuple):
    """A package manager: the sub-commands that install, and the hosts it needs for that."""

    verbs: frozenset[str]
    hosts: tuple[str, ...]


_NPM = ("registry.npmjs.org", "registry.yarnpkg.com")
_PYPI = ("pypi.org", "files.pythonhosted.org")
_CARGO = ("crates.io", "index.crates.io", "static.crates.io")
_GO = ("proxy.golang.org", "sum.golang.org", "storage.googleapis.com")

MANAGERS: Mapping[str, Manager] = {
    "npm": Manager(frozenset({"install", "i", "ci", "add"}), _NPM),
    "pnpm": Manager(frozenset({"install", "i", "add"}), _NPM),
    "yarn": Manager(frozenset({"", "install", "add"}), _NPM),
    "bun": Manager(frozenset({"install", "add"}), _NPM),
    "pip": Manager(frozenset({"install"}), _PYPI),
    "uv": Manager(frozenset({"sync", "add", "lock", "pip install"}), _PYPI),
    "poetry": Manager(frozenset({"install", "add", "lock"}), _PYPI),
    "pdm": Manager(frozenset({"install", "add", "lock", "sync"}), _PYPI),
    "cargo": Manager(frozenset({"fetch", "add", "update"}), _CARGO),
    "go": Manager(frozenset({"mod download", "mod tidy", "get"}), _GO),
    "bundle": Manager(frozenset({"install"}), ("rubygems.org", "index.rubygems.org")),
    "composer": Manager(frozenset({"install", "require"}), ("repo.packagist.org", "packagist.org")),
}
_SPELLINGS = {"pip3": "pip", "python -m pip": "pip", "python3 -m pip": "pip"}
#: Options that don't change where packages come from or where they go.
_OPTION_NAMES = """
-D -E -P -S -U -e -q -r --save --save-dev --save-exact --no-save --dev --no-audit --no-fund --frozen-lockfile
--immutable --prefer-offline --ignore-scripts --legacy-peer-deps --omit=dev --production --quiet --silent --upgrade
--editable --requirement --no-cache-dir --no-deps --all-extras --all-groups --frozen --locked --no-dev --no-root
--no-interaction --group --extra --with --only
"""
_OPTIONS = frozenset(_OPTION_NAMES.split())
_PACKAGE = re.compile(r"(?:@[\w.-]+/)?\w[\w.-]*(?:\[[\w,-]+\])?(?:(?:@|[=<>~!^]=?)[\w.*+^~<>=,-]+)*\Z")
#: Go names its packages by the place they come from; its proxy serves them.
_GO_PACKAGE = re.compile(r"\w[\w-]*(?:\.[\w-]+)+(?:/[\w.~-]+)*(?:@[\w.+-]+)?\Z")


def find_manager(argv: Sequence[str]) -> str | None:
    """The package manager that this command installs with, if it does that and nothing else."""
    words = list(argv)
    for spelled, name in _SPELLINGS.items():
        if words[: len(parts := spelled.split())] == parts:
            words[: len(parts)] = [name]
    manager = MANAGERS.get(words[0]) if words else None
    if manager is None:
        return None
    for depth in (2, 1, 0):
        if " ".join(words[1 : 1 + depth]) in manager.verbs and len(words) > depth:
            operands = words[1 + depth :]
            return words[0] if all(_is_harmless(word, words[0]) for word in operands) else None
    return None


def _is_harmless(word: str, manager: str) -> bool:
    if word.startswith("-"):
        return word in _OPTIONS
    if word == "." or (word.endswith(".txt") and "/" not in word):
        return True
    return (_GO_PACKAGE if manager == "go" else _PACKAGE).match(word) is not None
