"""Keeps files that may hold secrets out of what other programs print: diffs, and lines found by a search."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

from sidecar.telemetry.redaction import REDACTED, Redactor, assigned_secrets
from tools.errors import ToolError
from tools.host import Host, ResolvingHost, resolves_links
from tools.protected import may_be_certificate, secret_part

_SECTION = re.compile(r"^(?=diff --(?:git|cc|combined) )", re.MULTILINE)
#: The lines of a section's head that name its files. A hunk begins with @@.
_NAMED = re.compile(
    r"^(?:diff --(?:git|cc|combined)|---|\+\+\+|rename from|rename to|copy from|copy to) (.+)$", re.MULTILINE
)
_KEY_START = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]|$)")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
KEY_LINE = f"{REDACTED}private-key]"
_MAX_SOURCE_BYTES = 1 << 20
_MAX_BYTES = 256 * 1024
#: Looking at fewer names is quicker than asking a thread to.
_FEW_PATHS = 200
_WITHHELD = "(not shown: it may hold secrets; name the path to ask for approval)\n"


def withhold_secrets(diff: str) -> str:
    """A diff without the sections of files that may hold secrets."""
    if "diff --" not in diff:
        return diff
    return "".join(_shown(section) for section in _SECTION.split(diff))


def _shown(section: str) -> str:
    head = section.partition("\n@@")[0]
    if not any(_names_secret(names) for names in _NAMED.findall(head)):
        return section
    return f"{section.partition(chr(10))[0]}\n{_WITHHELD}"


def _names_secret(names: str) -> bool:
    """Whether a line names such a file: one path, or two of them that begin with a/ and b/."""
    words = names.replace('"', "").strip()
    halves = [words, *words.split(" b/"), *words.split()]
    return any(secret_part(half) for half in halves)


def key_lines(lines: Sequence[str]) -> frozenset[int]:
    """The numbers of the lines, from 1, inside of private keys: shown one by one, nothing tells them from others."""
    found: set[int] = set()
    inside: list[int] = []
    for number, line in enumerate(lines, 1):
        if inside and _KEY_END.search(line):
            found.update(inside[1:])
            inside = []
        elif _KEY_START.search(line):
            inside = [number]
        elif inside:
            inside.append(number)
    return frozenset(found.union(inside[1:]))


async def keys_in(host: Host, path: str) -> frozenset[int]:
    """The same for a file; empty if it can't be read."""
    try:
        content = await host.read(path, _MAX_SOURCE_BYTES)
    except ToolError:
        return frozenset()
    if b"PRIVATE KEY" not in content:
        return frozenset()
    return key_lines(content.decode("utf-8", "replace").split("\n"))


class AssignedSecrets:
    """The values that the secret files of a workspace's root assign: a command may print them, so they are redacted."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[int, ...]] = {}
        #: The names in the root that was looked at last, and the secret files among them.
        self._names: Sequence[str] = ()
        self._files: list[str] = []

    async def learn(self, host: Host, redact: Redactor) -> None:
        """Costs a look at the names in the root, and one at each of these files."""
        if not resolves_links(host):
            return
        with suppress(ToolError, OSError):
            names = await host.names(".")
            if names is not self._names:  # a host gives the same list while those don't change
                self._files = [name for name in names if not name.endswith("/") and secret_part(name)]
                self._names = names
            for name in self._files:
                await self._learn(host, name, redact)

    async def _learn(self, host: ResolvingHost, name: str, redact: Redactor) -> None:
        with suppress(ToolError):
            info = await host.stat(name)
            stamp, place = (info.size, info.mtime_ns, info.ctime_ns, info.inode), f"{host.workspace}/{name}"
            if info.kind == "file" and info.size <= _MAX_BYTES and self._read.get(place) != stamp:
                content = await host.with_secrets().read(name, _MAX_BYTES)
                redact.learn(assigned_secrets(content.decode("utf-8", "replace")))
                self._read[place] = stamp


async def secret_paths(host: Host, paths: Iterable[str], folder: str = "") -> frozenset[str]:
    """Those of the paths below a folder that may hold secrets, wherever a link on the way leads."""
    real = ""
    if folder not in ("", ".") and resolves_links(host):
        real = await host.resolve(folder)

    def suspects() -> list[str]:
        return [
            path
            for path in every
            if secret_part(path) or (real and secret_part(f"{real}/{path[len(folder) :].lstrip('/')}"))
        ]

    every = set(paths)
    named = suspects() if len(every) <= _FEW_PATHS else await asyncio.to_thread(suspects)
    return frozenset([path for path in named if not (may_be_certificate(path) and await _readable(host, path))])


async def _readable(host: Host, path: str) -> bool:
    try:
        await host.read(path, 1)
    except ToolError:
        return False
    return True
