"""A workspace's files at one moment, and the snapshot's form on disk, which outlasts the process."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from tools.host import Blob
from tools.local.root import Stamp, name_to_text, text_to_name
from tools.protected import secret_part

#: Larger snapshots aren't worth writing before each command.
_MAX_FILES = 2_000
_MAX_CONTENTS = 200
_MAX_BYTES = 1 << 20
_LOST = "The content from before the command was not kept."
_SECRET = "The file may hold a secret, so its content was not saved before the command, and the process died."  # noqa: S105


class FileListing:
    """The files of a workspace by directory. Immutable: another moment has another listing."""

    def __init__(self, folders: Mapping[str, dict[str, Stamp]] | None = None) -> None:
        self.folders = folders or {}

    @classmethod
    def of(cls, files: Mapping[str, Stamp]) -> "FileListing":
        folders: dict[str, dict[str, Stamp]] = {}
        for path, stamp in files.items():
            folder, slash, name = path.rpartition("/")
            folders.setdefault(folder + slash, {})[name] = stamp
        return cls(folders)

    def get(self, path: str) -> Stamp | None:
        folder, slash, name = path.rpartition("/")
        return self.folders.get(folder + slash, {}).get(name)

    def __iter__(self) -> Iterator[tuple[str, Stamp]]:
        for folder, names in self.folders.items():
            for name, stamp in names.items():
                yield folder + name, stamp

    def __len__(self) -> int:
        return sum(map(len, self.folders.values()))


class MemoryBudget:
    """Memory for file contents, shared by all workspaces."""

    def __init__(self) -> None:
        self._room = 64 * 1024 * 1024
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        with self._lock:
            if size > self._room:
                return False
            self._room -= size
            return True

    def give_back(self, size: int) -> None:
        with self._lock:
            self._room += size


@dataclass(frozen=True, slots=True)
class ContentSource:
    """Where to get a file's content: from memory, from Git, or, for the reason `why`, nowhere."""

    content: bytes | None = None
    git: bytes | None = None
    why: str = ""


@dataclass(slots=True, eq=False, weakref_slot=True)
class LocalSnapshot:
    listing: FileListing = field(default_factory=FileListing)
    sources: dict[str, ContentSource] = field(default_factory=dict)
    left_out: dict[str, Stamp] = field(default_factory=dict)
    #: Files that may have changed without a new stamp; only their contents can tell.
    unsettled: set[str] = field(default_factory=set)
    #: Writes by others since; they count as there before.
    written: dict[str, bytes | None] = field(default_factory=dict)
    partial: str = ""

    def record_write(self, path: str, content: bytes | None) -> None:
        self.written[text_to_name(path)] = content


def encode_snapshot(snapshot: LocalSnapshot) -> Sequence[bytes]:
    """The list of files, then the contents that are in memory; nothing if it is too large or partial."""
    if snapshot.partial or len(snapshot.listing) > _MAX_FILES:
        return ()
    contents = [
        source.content
        for path, source in snapshot.sources.items()
        if source.content is not None and not secret_part(path)
    ]
    if len(contents) > _MAX_CONTENTS or sum(map(len, contents)) > _MAX_BYTES:
        return ()
    # One line a file: the next list of the same files is then stored as a small difference.
    rows = ",\n".join(
        json.dumps([name_to_text(path), stamp, _encode_source(path, snapshot.sources[path])], separators=(",", ":"))
        for path, stamp in sorted(snapshot.listing)
        if path in snapshot.sources
    )
    left_out = json.dumps({name_to_text(path): stamp for path, stamp in snapshot.left_out.items()})
    unsettled = json.dumps(sorted(map(name_to_text, snapshot.unsettled)))
    text = f'{{"files":[\n{rows}\n],\n"leftOut":{left_out},\n"unsettled":{unsettled}}}'
    return (text.encode(), *contents)


async def decode_snapshot(data: bytes, blob: Blob) -> LocalSnapshot | None:
    try:
        found = json.loads(data)
        return LocalSnapshot(
            FileListing.of({text_to_name(path): _stamp(stamp) for path, stamp, _ in found["files"]}),
            {text_to_name(path): await _decode_source(name, blob) for path, _, name in found["files"]},
            {text_to_name(path): _stamp(stamp) for path, stamp in found["leftOut"].items()},
            {text_to_name(path) for path in found["unsettled"]},
        )
    except (ValueError, KeyError, TypeError):
        return None


def _encode_source(path: str, source: ContentSource) -> str:
    if source.content is not None and secret_part(path):
        return f"none:{_SECRET}"
    if source.content is not None:
        return f"sha256:{sha256(source.content).hexdigest()}"
    return f"git:{source.git.hex()}" if source.git is not None else f"none:{source.why}"


async def _decode_source(name: str, blob: Blob) -> ContentSource:
    kind, _, rest = name.partition(":")
    if kind == "git":
        return ContentSource(git=bytes.fromhex(rest))
    content = await blob(rest) if kind == "sha256" else None
    return ContentSource(content) if content is not None else ContentSource(why=rest if kind == "none" else _LOST)


def _stamp(numbers: Sequence[int]) -> Stamp:
    mode, inode, size, written_at, changed_at = map(int, numbers)
    return (mode, inode, size, written_at, changed_at)
