"""Asks a package client which registry it is configured for: its own configuration, never that of a workspace.

The client runs outside of every workspace and reaches no network for this. In the sandbox its configuration is
hidden, so the command gets the address, without a password, by variables.
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
from tools.policy.work_commands import MANAGERS

_URL = re.compile(r"https?://[^\s\"',|]+")
_SECONDS = 30.0
_FRESH_SECONDS = 600.0
_MAX_OUTPUT = 1 << 20


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
