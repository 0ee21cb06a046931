"""What the calls of one task share: the files they have read, and the commands that still run."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from weakref import ref

from pydantic import JsonValue

from tools.host import ScanningHost, Snapshot
from tools.ledger import Ledger, digest

_MAX_FILES = 2_000
_MAX_BYTES = 16 * 1024 * 1024
_DIFF_LINES = 60


@dataclass(eq=False, slots=True, weakref_slot=True)
class ChangeWindow:
    """Spans a command from its start to its end; the tracker forgets it when no reference is left."""

    workspace: str
    ledger: "ref[Ledger]"
    host: ScanningHost | None = None
    snapshot: Snapshot | None = None
    #: Why the command's changes can't be found; empty if they can.
    blind: str = ""


@dataclass(slots=True)
class Session:
    """One per ledger. Bounded, so that a long task doesn't grow it."""

    #: Background commands and their workspaces.
    commands: dict[str, str] = field(default_factory=dict)
    #: Open windows of background commands.
    windows: dict[str, ChangeWindow] = field(default_factory=dict)
    #: Digests of scan blobs that the ledger already stores, and of the last scan.
    stored: set[str] = field(default_factory=set)
    scan: str | None = None
    _hashes: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _contents: OrderedDict[str, bytes] = field(default_factory=OrderedDict)
    _size: int = 0

    def saw(self, path: str, content: bytes | None) -> None:
        """Remember that the agent knows this content of a file; `None` if the file is gone."""
        if content is None:
            self._hashes.pop(path, None)
            return
        name = digest(content)
        self._remember(path, name)
        if name not in self._contents and len(content) <= _MAX_BYTES // 8:
            self._contents[name] = content
            self._size += len(content)
        while self._size > _MAX_BYTES:
            self._size -= len(self._contents.popitem(last=False)[1])

    def learn(self, read: Iterable[tuple[str, bytes | None]], details: JsonValue, workspace: str) -> None:
        """Remember the files that a result was read from, and the background command that it started."""
        any_source = False
        for path, content in read:
            any_source = True
            if content is not None:
                self.saw(path, content)
        if not any_source:
            self.recall(details)
        if isinstance(details, dict) and isinstance(command_id := details.get("commandId"), str):
            self.commands[command_id] = workspace

    def recall(self, details: JsonValue) -> None:
        """Remember the hashes in the details of a result from another backend or an earlier process."""
        if not isinstance(details, dict):
            return
        files = details.get("files")
        for entry in (details, *(files if isinstance(files, list) else ())):
            if isinstance(entry, dict):
                path, name = entry.get("path"), entry.get("hash")
                if isinstance(path, str) and isinstance(name, str):
                    self._remember(path, name)

    def unseen(self, path: str, now: bytes | None) -> str | None:
        """Describe what changed in a file since the agent read it; `None` if the agent knows its content."""
        known = self._hashes.get(path)
        if known is None or (now is not None and digest(now) == known):
            return None
        if now is None:
            return f"{path} was deleted since you read it."
        old = self._contents.get(known)
        if old is None:
            return f"{path} changed since you read it."
        import difflib

        lines = difflib.unified_diff(_lines(old), _lines(now), "as you read it", "as it is now", n=1, lineterm="")
        shown = [line for _, line in zip(range(_DIFF_LINES), lines, strict=False)]
        return "\n".join([f"{path} changed since you read it:", *shown])

    def _remember(self, path: str, name: str) -> None:
        self._hashes[path] = name
        self._hashes.move_to_end(path)
        while len(self._hashes) > _MAX_FILES:
            self._hashes.popitem(last=False)


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines()
