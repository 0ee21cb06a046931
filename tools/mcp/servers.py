"""All MCP servers that tasks may use, each started when first needed."""

import asyncio
import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from tools.local.environment import READER_MARK, command_environment, sidecar_mark
from tools.local.reaper import Reaper, process_table
from tools.local.sandbox.probe import Sandboxes
from tools.mcp.configuration import Configuration
from tools.mcp.connection import ServerConnection, ServerFailed
from tools.mcp.entry import ServerEntry
from tools.mcp.listing import Listing
from tools.mcp.peer import Opening
from tools.mcp.pins import Pins
from tools.mcp.stdio import ServerProcess

_MAX_CONNECTIONS = 64


class ServerStatus(NamedTuple):
    name: str
    own: bool
    where: str
    state: str
    tools: tuple[str, ...]
    pinned: bool
    error: str = ""
    left_out: tuple[str, ...] = ()
    #: What you have not accepted yet.
    diff: str = ""


class McpServers:
    """`private` are directories of ours that no server sees."""

    def __init__(
        self,
        configuration: Configuration,
        data_dir: Path,
        sandboxes: Sandboxes | None = None,
        private: Sequence[Path] = (),
    ) -> None:
        self.configuration = configuration
        self.pins = Pins(data_dir / "mcp-pins.json")
        self._data_dir = data_dir
        self._sandboxes = sandboxes
        self._private = tuple(str(place.absolute()) for place in (data_dir, *private))
        self._connections: dict[tuple[str, str, str], ServerConnection] = {}
        #: Grows with every new server, whose keys are then redacted too.
        self.generation = 0
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def sandboxed(self) -> bool:
        return self._sandboxes is not None and self._sandboxes.available()

    def entries(self, workspace: str, conversation: str = "") -> Mapping[str, ServerEntry]:
        """Those that the tasks of a conversation may use, by name."""
        return self.configuration.load(workspace).serving(conversation)

    def lend(self, session: str, workspace: str, servers: Mapping[str, Any]) -> None:
        """Let the tasks of a session use an editor's servers, and end those that it doesn't lend any more."""
        self.configuration.lend(session, workspace, servers)
        lent = {entry.identity for entry in self.configuration.load(workspace).lent}
        for key in [key for key in self._connections if key[0] == workspace and key[2] and key not in lent]:
            self._dismiss(self._connections.pop(key))

    def listing(self, entry: ServerEntry) -> tuple[Listing | None, bool]:
        """The set to offer, and whether you accepted it. An accepted one needs no running server."""
        pinned = self.pins.listing(entry)
        if pinned is not None:
            return pinned, True
        connection = self._connections.get(entry.identity)
        known = connection.listing if connection is not None and connection.entry == entry else None
        return known, known is not None and self.pins.state(entry, known) == "pinned"

    def connection(self, entry: ServerEntry) -> ServerConnection:
        key = entry.identity
        found = self._connections.get(key)
        if found is None or (found.entry is not entry and found.entry != entry):
            if found is not None:
                self._dismiss(found)
            elif len(self._connections) >= _MAX_CONNECTIONS:
                self._dismiss(self._connections.pop(next(iter(self._connections))))
            found = ServerConnection(entry, lambda: self._open(entry))
            self._connections[key] = found
            self.generation += 1
        return found

    def start(self, workspace: str, *, own: bool = False) -> None:
        """Start the servers whose tools are still unknown, in the background; with `own` none of a workspace."""
        for entry in self.configuration.load(workspace).every:
            if not entry.disabled and (entry.own or not own) and self.pins.listing(entry) is None:
                self.connection(entry).start()

    def statuses(self, workspace: str) -> Iterator[ServerStatus]:
        configured = self.configuration.load(workspace)
        for entry in configured.every:
            connection = self._connections.get(entry.identity)
            listing, accepted = self.listing(entry)
            live = connection.listing if connection is not None and connection.entry == entry else None
            state: str = "disabled" if entry.disabled else connection.state if connection is not None else "stopped"
            diff = ""
            if live is not None and (pin := self.pins.state(entry, live)) != "pinned":
                accepted, diff = False, self.pins.diff(entry, live)
                state = "changed" if pin == "changed" and state == "ready" else state
            shown = live or listing
            yield ServerStatus(
                entry.name,
                entry.own,
                entry.where,
                state,
                tuple(shown.names) if shown is not None else (),
                accepted,
                connection.error if connection is not None else "",
                shown.left_out if shown is not None else (),
                diff,
            )
        for name, problem in configured.problems.items():
            yield ServerStatus(name, True, "", "failed", (), False, problem)

    def secrets(self) -> dict[str, str]:
        """Values from entries in use that no event may show."""
        found: dict[str, str] = {}
        for connection in self._connections.values():
            found |= connection.entry.secrets()
        return found

    async def forget(self, name: str, workspace: str) -> None:
        """Close a server whose entry is gone."""
        if (connection := self._connections.pop((workspace, name, ""), None)) is not None:
            await connection.close()

    async def close(self) -> None:
        for connection in self._connections.values():
            self._dismiss(connection)
        self._connections.clear()
        if self._closing:
            await asyncio.wait(self._closing)

    def _dismiss(self, connection: ServerConnection) -> None:
        task = asyncio.create_task(connection.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _open(self, entry: ServerEntry) -> Opening:
        if entry.transport == "http":
            from tools.mcp.http import HttpPeer, http_streams
            from tools.mcp.oauth import make_auth

            peer = HttpPeer()
            return Opening(http_streams(entry, make_auth(entry, self._data_dir), peer), peer)
        from tools.mcp.sandboxing import wrap

        sandbox = None if self._sandboxes is None else await self._sandboxes.find()
        if sandbox is None and not entry.own:
            raise ServerFailed(
                "No sandbox works on this machine, and a workspace's server is not started without one. Copy its "
                "entry to your own mcp.json if you want it."
            )
        place = hashlib.sha256("\0".join(entry.identity).encode()).hexdigest()[:16]
        scratch = self._data_dir / "mcp" / place
        scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
        # A mark of its own: its end ends all that carries it, but no server of the same name, here or elsewhere.
        mark = f"mcp-{entry.name}-{secrets.token_hex(6)}"
        where = {"HOME": os.environ.get("HOME", str(scratch))}
        given = {**where, **entry.environment, READER_MARK: "" if entry.grants.write else "1"}
        environment = command_environment(mark, sidecar_mark(self._data_dir), entry.cwd, given)
        private = [place for place in self._private if place != str(scratch)]
        launch = wrap(entry, environment, entry.workspace, str(scratch), sandbox, private)
        reaper = Reaper(process_table(), sidecar_mark(self._data_dir))
        supervised = sandbox is not None and sandbox.supervised
        process = ServerProcess(launch, entry.cwd, mark, reaper, supervised=supervised)
        return Opening(process.streams(), process)


def subject(entry: ServerEntry, listing: Listing) -> str:
    """What an approval is bound to: the server as it is started, its files, and its whole tool set."""
    parts = [entry.name, entry.launch, listing.digest, *_files(entry)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _files(entry: ServerEntry) -> Iterator[str]:
    """The state of the program and of every file that the command names."""
    for word in entry.command:
        if word.startswith("/") or word == entry.command[0]:
            place = word if word.startswith("/") else _find_program(word)
            try:
                found = os.stat(place)  # noqa: PTH116
            except OSError:
                continue
            if not stat.S_ISDIR(found.st_mode):
                yield f"{place} {found.st_size} {found.st_mtime_ns}"


@lru_cache(maxsize=256)
def _find_program(name: str) -> str:
    return shutil.which(name) or name
