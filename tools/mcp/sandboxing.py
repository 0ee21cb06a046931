"""What the process of a server may read, write and reach: what its entry grants, and nothing else."""

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tools.local.sandbox.access import CommandAccess, CommandLaunch, SandboxTier
from tools.mcp.entry import ServerEntry
from tools.mcp.failures import LAUNCHERS

#: Where programs and their packages are installed in a home directory.
_INSTALLED = """
.npm .nvm .fnm .volta .bun .deno .asdf .mise .pyenv .rbenv .cargo .rustup .local/bin .local/lib .local/share/uv
.local/share/pipx .local/share/pnpm .local/share/fnm .local/share/mise .cache go .nix-profile Library/Caches
Library/pnpm .docker/cli-plugins
"""
_CACHES = ".npm .cache .local/share/uv .local/share/pipx .local/share/pnpm .bun Library/Caches"
_MAX_HIDDEN = 2_000


def wrap(
    entry: ServerEntry,
    environment: dict[str, str],
    workspace: str,
    scratch: str,
    sandbox: SandboxTier | None,
    private: Sequence[str],
) -> CommandLaunch:
    """`private` are our own directories. Raises `OSError` if the program is missing."""
    program = shutil.which(entry.command[0], path=environment.get("PATH"))
    if program is None:
        raise FileNotFoundError(f"{entry.command[0]} is not installed, or not on the PATH")
    argv = [program, *entry.command[1:]]
    if sandbox is None:
        return CommandLaunch(argv, environment)
    access = _access(entry, program, workspace, scratch, private)
    return sandbox.wrap(argv, access, entry.cwd, environment)


def _access(entry: ServerEntry, program: str, workspace: str, scratch: str, private: Sequence[str]) -> CommandAccess:
    home = os.environ.get("HOME", "")
    named = [place for place in _named(entry, program) if _exists(place)]
    writable = [place for place in entry.grants.write if _exists(place)]
    if entry.grants.network and Path(program).name in LAUNCHERS:
        writable += _inside(home, _CACHES)
    readable = [*_inside(home, _INSTALLED), *named, *entry.grants.read, entry.cwd]
    writes = any(f"{workspace}/".startswith(f"{place}/") for place in entry.grants.write)
    access = CommandAccess.grant(workspace, home, private=private, writes=writes)
    return replace(
        access,
        network=entry.grants.network,
        readable=tuple(dict.fromkeys((*_without(access.readable, home), *filter(_exists, readable)))),
        writable=(*access.writable, scratch, *writable),
        hidden=(*access.hidden, *_hidden(home, [workspace, *readable, *writable, *access.readable[-2:]])),
    )


def _named(entry: ServerEntry, program: str) -> Iterator[str]:
    """The program and the absolute paths that the entry names. It must be able to read itself."""
    yield program
    yield os.path.realpath(program)
    place = Path(program).parent
    yield str(place.parent if place.name in ("bin", "shims") else place)
    for word in entry.command[1:]:
        value = word.partition("=")[2] if word.startswith("--") else word
        if value.startswith("/") and value.strip("/"):
            yield os.path.normpath(value)


def _hidden(home: str, kept: Sequence[str]) -> Iterator[str]:
    """Everything in the home directory beside what is kept, so that no server reads your other files."""
    if not home.startswith("/") or home.count("/") < 1 or home == "/":
        return
    below = [place for place in kept if f"{place}/".startswith(f"{home}/")]
    if home in below:
        return
    count = 0
    waiting = [home]
    while waiting and count < _MAX_HIDDEN:
        place = waiting.pop()
        try:
            entries = sorted(os.listdir(place))  # noqa: PTH208
        except OSError:
            continue
        for name in entries:
            path = f"{place}/{name}"
            if path in below:
                continue
            if any(each.startswith(f"{path}/") for each in below):
                waiting.append(path)
                continue
            if not os.path.islink(path):  # noqa: PTH114
                count += 1
                yield path


def _without(places: Sequence[str], home: str) -> Iterator[str]:
    return (place for place in places if place != home)


def _inside(home: str, names: str) -> list[str]:
    if not home.startswith("/"):
        return []
    places = [f"{home}/{name}" for name in names.split()]
    return [place for place in places if _exists(place) and not os.path.islink(place)]  # noqa: PTH114


def _exists(place: str) -> bool:
    return os.path.exists(place)  # noqa: PTH110
