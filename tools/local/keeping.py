"""A snapshot as contents that outlast the process: what a command changed can be found even if it ended with us."""

import json
from collections.abc import Sequence

from tools.host import Blob
from tools.ledger import digest
from tools.local.root import name_to_text, text_to_name
from tools.local.scan import LocalSnapshot, Source
from tools.local.walk import Listing
from tools.protected import secret_part

#: More than this is not worth writing before each command.
_FILES = 2_000
_HELD = 200
_BYTES = 1 << 20


def written(snapshot: LocalSnapshot) -> Sequence[bytes]:
    """The list of files first, then what of them is held here; nothing if it is too much, or not the whole."""
    if snapshot.partial or len(snapshot.listing) > _FILES:
        return ()
    held = [
        source.content
        for path, source in snapshot.sources.items()
        if source.content is not None and not secret_part(path)
    ]
    if len(held) > _HELD or sum(map(len, held)) > _BYTES:
        return ()
    # A line for each file: the next list of the same files is then stored as the few lines in which it differs.
    rows = ",\n".join(
        json.dumps([name_to_text(path), stamp, _name(path, snapshot.sources[path])], separators=(",", ":"))
        for path, stamp in sorted(snapshot.listing)
        if path in snapshot.sources
    )
    left_out = json.dumps({name_to_text(path): stamp for path, stamp in snapshot.left_out.items()})
    unsettled = json.dumps(sorted(map(name_to_text, snapshot.unsettled)))
    text = f'{{"files":[\n{rows}\n],\n"leftOut":{left_out},\n"unsettled":{unsettled}}}'
    return (text.encode(), *held)


async def read_back(kept: bytes, blob: Blob) -> LocalSnapshot | None:
    try:
        told = json.loads(kept)
        return LocalSnapshot(
            Listing.of({text_to_name(path): _stamp(stamp) for path, stamp, _ in told["files"]}),
            {text_to_name(path): await _source(name, blob) for path, _, name in told["files"]},
            {text_to_name(path): _stamp(stamp) for path, stamp in told["leftOut"].items()},
            {text_to_name(path) for path in told["unsettled"]},
        )
    except (ValueError, KeyError, TypeError):
        return None


def _name(path: str, source: Source) -> str:
    if source.content is not None and secret_part(path):
        return f"none:{_UNWRITTEN}"
    if source.content is not None:
        return f"sha256:{digest(source.content)}"
    return f"git:{source.git.hex()}" if source.git is not None else f"none:{source.why}"


async def _source(name: str, blob: Blob) -> Source:
    kind, _, rest = name.partition(":")
    if kind == "git":
        return Source(git=bytes.fromhex(rest))
    content = await blob(rest) if kind == "sha256" else None
    return Source(content) if content is not None else Source(why=rest if kind == "none" else _LOST)


_LOST = "What it was before the command was not kept."
_UNWRITTEN = "It may hold a secret, so it was not written down before the command, and the process died during it."


def _stamp(numbers: Sequence[int]) -> tuple[int, int, int, int, int]:
    mode, inode, size, written_at, changed_at = map(int, numbers)
    return (mode, inode, size, written_at, changed_at)
