"""The `mcp.json` files that a workspace's tasks see: yours, and its own if you trust it."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from stat import S_ISREG
from typing import Any, NamedTuple

from sidecar.config.paths import open_regular, write_private
from tools.mcp.entry import BadEntry, ServerEntry, Variables, parse_entry, server_name

FILE = "mcp.json"
IN_WORKSPACE = (".mcp.json", ".vscode/mcp.json")
MAX_SERVERS = 64
_MAX_SESSIONS = 16
_MAX_BYTES = 1_000_000
_NEITHER: list[object] = [None] * len(IN_WORKSPACE)


@dataclass(frozen=True)
class Configured:
    """The servers of one workspace by name, those lent to some of its conversations, and why others can't be used."""

    servers: Mapping[str, ServerEntry] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    lent: tuple[ServerEntry, ...] = ()

    @property
    def every(self) -> tuple[ServerEntry, ...]:
        return (*self.servers.values(), *self.lent)

    @cached_property
    def _enabled(self) -> Mapping[str, ServerEntry]:
        return {name: entry for name, entry in self.servers.items() if not entry.disabled}

    def serving(self, conversation: str) -> Mapping[str, ServerEntry]:
        """By name. An editor's server wins over the workspace's; yours wins over both, and its name isn't lent."""
        lent = {each.name: each for each in self.lent if each.serves(conversation) and not each.disabled}
        return {**self._enabled, **lent} if lent else self._enabled

    def lent_as(self, name: str) -> Iterator[ServerEntry]:
        return (each for each in self.lent if each.name == name and not each.disabled)


class Configuration:
    """Reads the files again when they change. `inputs` are the values for `${input:id}`."""

    def __init__(
        self,
        directory: Path,
        trusted: Callable[[str], bool] = lambda workspace: False,
        inputs: Callable[[], Mapping[str, str]] = dict,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._directory = directory
        self._own = str(directory / FILE)
        self._trusted = trusted
        self._inputs = inputs
        self._environment = os.environ if environment is None else environment
        self._known: dict[str, tuple[object, Configured]] = {}
        #: Servers that editors lend to their sessions, which are conversations, by workspace and session.
        self._lent: dict[str, dict[str, Mapping[str, Any]]] = {}

    @property
    def file(self) -> Path:
        return self._directory / FILE

    def lend(self, session: str, workspace: str, servers: Mapping[str, Any]) -> None:
        """Let the tasks of a session use these entries until it lends other ones, or none."""
        lent = self._lent.setdefault(workspace, {})
        lent.pop(session, None)
        if servers:
            lent[session] = servers
            while len(lent) > _MAX_SESSIONS:
                del lent[next(iter(lent))]
        if not lent:
            del self._lent[workspace]
        self._known.pop(workspace, None)

    def load(self, workspace: str) -> Configured:
        # Every call asks several times, and building a Path costs more than the system call.
        known = self._known.get(workspace)
        theirs = [_stamp(f"{workspace}/{name}") for name in IN_WORKSPACE]
        trusted = theirs != _NEITHER and self._trusted(workspace)
        stamp = (_stamp(self._own), theirs if trusted else None, self._inputs())
        if known is None or known[0] != stamp:
            places = [(Path(workspace) / name, False) for name in IN_WORKSPACE] if trusted else []
            known = self._known[workspace] = (stamp, self._read([(self.file, True), *places], workspace))
            while len(self._known) > MAX_SERVERS:
                del self._known[next(iter(self._known))]
        return known[1]

    def _read(self, files: list[tuple[Path, bool]], workspace: str) -> Configured:
        servers: dict[str, ServerEntry] = {}
        problems: dict[str, str] = {}
        lent: list[ServerEntry] = []
        for source in self._sources(files, workspace, problems):
            for written, raw in source.entries.items():
                name = server_name(written) or written[:40]
                if name in servers or name in problems:
                    continue  # your own entry wins over an editor's and over a workspace's
                if len(servers) + len(lent) >= MAX_SERVERS:
                    problems[name] = f"{name} is not used: at most {MAX_SERVERS} servers are"
                    break
                try:
                    entry = parse_entry(written, raw, source.expand, workspace, own=source.own)
                except BadEntry as error:
                    shown = f"{name} of {source.where}" if source.conversations else name
                    problems[shown] = f"{name} in {source.where} is not used: {error}."
                    continue
                if source.conversations:
                    _lend(lent, replace(entry, conversations=source.conversations))
                else:
                    servers[name] = entry
        return Configured(servers, problems, tuple(lent))

    def _sources(self, files: list[tuple[Path, bool]], workspace: str, problems: dict[str, str]) -> Iterator["_Source"]:
        """Your own file, what editors lend, then the workspace's files."""
        for file, own in files:
            try:
                document = read_document(file)
            except BadEntry as error:
                problems[file.name] = f"{file} is not used: {error}"
                document = {}
            inputs = {**_defaults(document), **self._inputs()}
            expand = Variables(self._environment, workspace, inputs, own=own).expand
            yield _Source(str(file), entries_of(document), own, expand)
            if own:
                for session, lent in self._lent.get(workspace, {}).items():
                    # The editor has filled in its variables.
                    yield _Source("your editor", lent, True, str, frozenset({session}))


def _lend(lent: list[ServerEntry], entry: ServerEntry) -> None:
    """Sessions that are lent the same server share it."""
    for place, other in enumerate(lent):
        if other == entry:
            lent[place] = replace(other, conversations=other.conversations | entry.conversations)
            return
    lent.append(entry)


class _Source(NamedTuple):
    where: str
    entries: Mapping[str, Any]
    own: bool
    expand: Callable[[str], str]
    conversations: frozenset[str] = frozenset()


def read_document(file: Path) -> dict[str, Any]:
    """An absent file is an empty one. Raises `BadEntry`."""
    try:
        found = file.lstat()
    except OSError:
        return {}
    if not S_ISREG(found.st_mode):
        raise BadEntry("it is not a regular file")
    if found.st_size > _MAX_BYTES:
        raise BadEntry(f"it has {found.st_size:,} bytes, and at most {_MAX_BYTES:,} are read")
    try:
        with os.fdopen(open_regular(file, follow=False), encoding="utf-8-sig") as stream:
            document = json.loads(_without_comments(stream.read(_MAX_BYTES)))
    except (OSError, ValueError, RecursionError) as error:
        raise BadEntry(f"it is not JSON ({error})") from error
    if not isinstance(document, dict):
        raise BadEntry("it is not a JSON object")
    return document


def entries_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Claude Code and Cursor write `mcpServers`, VS Code writes `servers`."""
    found: dict[str, Any] = {}
    for key in ("mcpServers", "servers"):
        named = document.get(key)
        found |= named if isinstance(named, dict) else {}
    return found


def add_entry(file: Path, name: str, raw: Mapping[str, Any]) -> None:
    """Write an entry to your own file, keeping everything else in it. Raises `BadEntry`."""
    document = read_document(file)
    parse_entry(name, dict(raw), lambda text: text, "/", own=True)
    key = "servers" if "servers" in document and "mcpServers" not in document else "mcpServers"
    named = document.get(key)
    document[key] = {**(named if isinstance(named, dict) else {}), name: dict(raw)}
    _write(file, document)


def remove_entry(file: Path, name: str) -> bool:
    """Whether it was there. Raises `BadEntry`."""
    document, removed = read_document(file), False
    for key in ("mcpServers", "servers"):
        named: dict[str, Any] = document.get(key) or {}
        for written in [each for each in named if name in (each, server_name(each))]:
            del named[written]
            removed = True
    if removed:
        _write(file, document)
    return removed


def _write(file: Path, document: Mapping[str, Any]) -> None:
    """Private: entries may hold keys."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private(file, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


class Inputs:
    """Values for `${input:id}`, in a private file of the data directory."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: tuple[object, dict[str, str]] = (None, {})

    def __call__(self) -> Mapping[str, str]:
        stamp = _stamp(str(self._file))
        if stamp != self._known[0]:
            try:
                found = json.loads(self._file.read_text(encoding="utf-8"))
                values = {str(name): str(value) for name, value in found.items()}
            except (OSError, ValueError, AttributeError):
                values = {}
            self._known = (stamp, values)
        return self._known[1]

    def set(self, name: str, value: str) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(self._file, json.dumps({**self(), name: value}))


def _defaults(document: Mapping[str, Any]) -> dict[str, str]:
    inputs = document.get("inputs")
    return {
        each["id"]: each["default"]
        for each in (inputs if isinstance(inputs, list) else ())
        if isinstance(each, dict) and isinstance(each.get("id"), str) and isinstance(each.get("default"), str)
    }


def _without_comments(text: str) -> str:
    """VS Code's files may hold comments and commas before a closing bracket."""
    kept: list[str] = []
    place = 0
    while place < len(text):
        letter = text[place]
        if letter == '"':
            end = place + 1
            while end < len(text) and text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            kept.append(text[place : end + 1])
            place = end + 1
        elif text.startswith("//", place):
            end = text.find("\n", place)
            place = len(text) if end < 0 else end
        elif text.startswith("/*", place):
            end = text.find("*/", place + 2)
            place = len(text) if end < 0 else end + 2
        else:
            if letter in "]}":
                while kept and kept[-1].isspace():
                    kept.pop()
                if kept and kept[-1] == ",":
                    kept.pop()
            kept.append(letter)
            place += 1
    return "".join(kept)


def _stamp(file: str) -> object:
    # Most workspaces have none, and an exception costs more than this check.
    if not os.access(file, os.F_OK, follow_symlinks=False):
        return None
    try:
        found = os.lstat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode
