"""Package managers: the installs that a repository can be granted, and the registries that they reach.

No address of a registry is written here. The client on this machine is asked for the one in its own configuration,
never in that of a workspace: it runs outside of every workspace and reaches no network for this. In the sandbox that
configuration is hidden, so the command gets the address, without a password, by variables.
"""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from tools.environments import without_own_environment

_URL = re.compile(r"https?://[^\s\"',|]+")
_SECONDS = 30.0
_FRESH_SECONDS = 600.0
_MAX_OUTPUT = 1 << 20


class CommandQuestion(NamedTuple):
    """A command of the client that prints addresses of its registry, in lines that match `line`."""

    argv: tuple[str, ...]
    line: str = ""
    #: Names of variables that tell the client the first address.
    variable: str = ""
    #: Whether an answer leaves nothing more to ask.
    enough: bool = True


class Manager(NamedTuple):
    """A package manager: the sub-commands that install, and how to ask it for its registry."""

    verbs: frozenset[str]
    questions: tuple[CommandQuestion, ...] = ()


_PIP_DEFAULTS = """
from pip._internal.models.index import PyPI
print(PyPI.simple_url, 'https://' + PyPI.file_storage_domain)
"""
_NPM_LIST = ("npm", "config", "list", "--json")
_NPM = (
    CommandQuestion(_NPM_LIST, r'^\s*"registry": ', "npm_config_registry YARN_NPM_REGISTRY_SERVER", enough=False),
    CommandQuestion(_NPM_LIST, r'^\s*"@[^"]*:registry": '),
)
_PIP_LIST = ("python3", "-m", "pip", "config", "list")
_PIP = (
    CommandQuestion(_PIP_LIST, r"extra-index-url=", "PIP_EXTRA_INDEX_URL", enough=False),
    CommandQuestion(_PIP_LIST, r"[.]index-url=", "PIP_INDEX_URL UV_DEFAULT_INDEX PDM_PYPI_URL"),
    # Without a configuration, pip's own.
    CommandQuestion(("python3", "-I", "-c", _PIP_DEFAULTS)),
)

MANAGERS: Mapping[str, Manager] = {
    "npm": Manager(frozenset({"install", "i", "ci", "add"}), _NPM),
    "pnpm": Manager(
        frozenset({"install", "i", "add"}),
        (CommandQuestion(("pnpm", "config", "get", "registry"), variable="npm_config_registry"), *_NPM),
    ),
    "yarn": Manager(
        frozenset({"", "install", "add"}),
        (
            CommandQuestion(("yarn", "config", "get", "registry"), variable="npm_config_registry", enough=False),
            CommandQuestion(("yarn", "config", "get", "npmRegistryServer"), variable="YARN_NPM_REGISTRY_SERVER"),
        ),
    ),
    "bun": Manager(frozenset({"install", "add"}), _NPM),
    "pip": Manager(frozenset({"install"}), _PIP),
    "uv": Manager(frozenset({"sync", "add", "lock", "pip install"}), _PIP),
    "poetry": Manager(frozenset({"install", "add", "lock"}), _PIP),
    "pdm": Manager(frozenset({"install", "add", "lock", "sync"}), _PIP),
    # Cargo doesn't say where its registry is: its hosts need grants of their own.
    "cargo": Manager(frozenset({"fetch", "add", "update"})),
    "go": Manager(
        frozenset({"mod download", "mod tidy", "get"}), (CommandQuestion(("go", "env", "GOPROXY"), variable="GOPROXY"),)
    ),
    "bundle": Manager(frozenset({"install"}), (CommandQuestion(("gem", "sources", "--list")),)),
    "composer": Manager(
        frozenset({"install", "require"}),
        (CommandQuestion(("composer", "config", "--global", "--list"), r"^\[repositories"),),
    ),
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


class PackageRegistry(NamedTuple):
    """`environment` tells the client in the sandbox where its registry is."""

    hosts: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}


class Registries:
    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[float, PackageRegistry]] = {}

    def find(self, manager: str, workspace: str) -> PackageRegistry:
        """It starts a program, so call it in a thread. Without an answer there are no hosts."""
        known = self._known.get((manager, workspace))
        if known is None or time.monotonic() - known[0] > _FRESH_SECONDS:
            if len(self._known) > 100:
                self._known.clear()
            known = self._known[(manager, workspace)] = (time.monotonic(), _ask(manager, workspace))
        return known[1]


def _ask(manager: str, workspace: str) -> PackageRegistry:
    environment = without_own_environment(dict(os.environ))
    path = search_path(workspace)
    found: list[str] = []
    variables: dict[str, str] = {}
    said: dict[tuple[str, ...], str] = {}
    for question in MANAGERS[manager].questions:
        if question.argv not in said:
            program = shutil.which(question.argv[0], path=path)
            said[question.argv] = "" if program is None else _run([program, *question.argv[1:]], environment)
        lines = said[question.argv].splitlines()
        urls = [url for line in lines if re.search(question.line, line) for url in _URL.findall(line)]
        plain = [_without_user(url) for url in urls]
        found += plain
        if plain and question.variable:
            variables |= dict.fromkeys(question.variable.split(), plain[0])
        if plain and question.enough:
            break
    hosts = dict.fromkeys(name for url in found if (name := urlsplit(url).hostname))
    return PackageRegistry(tuple(hosts), variables)


def search_path(workspace: str) -> str:
    """Where commands look for programs, without the folders of a workspace."""
    inside = f"{os.path.realpath(workspace)}/"
    folders = without_own_environment({"PATH": os.environ.get("PATH", os.defpath)})["PATH"].split(os.pathsep)
    outside = (each for each in folders if each.startswith("/") and not f"{os.path.realpath(each)}/".startswith(inside))
    return os.pathsep.join(outside)


def _run(argv: Sequence[str], environment: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            argv, cwd="/", env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout[:_MAX_OUTPUT].decode("utf-8", "replace")


def _without_user(url: str) -> str:
    """A password is a key, and commands get none."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
