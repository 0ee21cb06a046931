"""Finds renames among files that a task deleted and created: the same content, or mostly the same lines."""

from collections import Counter
from collections.abc import Mapping
from pathlib import PurePosixPath

from sidecar.engine.merge import File
from tools.ledger import digest

#: Pairs whose lines are compared at most.
_MAX_PAIRS = 2_500
_SIMILAR = 0.5
_LARGEST = 256 * 1024


def find_renames(deleted: Mapping[str, File], created: Mapping[str, File]) -> dict[str, str]:
    """The old path of each renamed file, by its new path."""
    old = {path: file for path, file in deleted.items() if file.content and not file.linked}
    new = {path: file for path, file in created.items() if file.content and not file.linked}
    renames = _same_content(old, new)
    for path, source in renames.items():
        del new[path], old[source]
    return renames | (_similar(old, new) if len(old) * len(new) <= _MAX_PAIRS else {})


def _same_content(old: Mapping[str, File], new: Mapping[str, File]) -> dict[str, str]:
    by_content: dict[str, list[str]] = {}
    for path, file in old.items():
        by_content.setdefault(digest(file.content), []).append(path)
    renames: dict[str, str] = {}
    for path, file in new.items():
        if sources := by_content.get(digest(file.content)):
            name = PurePosixPath(path).name
            source = next((each for each in sources if PurePosixPath(each).name == name), sources[0])
            sources.remove(source)
            renames[path] = source
    return renames


def _similar(old: Mapping[str, File], new: Mapping[str, File]) -> dict[str, str]:
    lines = {path: _lines(file) for path, file in (*old.items(), *((f"\0{path}", file) for path, file in new.items()))}
    scores = sorted(
        (
            (score, source, path)
            for source in old
            for path in new
            if (score := _similarity(lines[source], lines[f"\0{path}"])) >= _SIMILAR
        ),
        key=lambda each: (-each[0], each[1], each[2]),
    )
    renames: dict[str, str] = {}
    for _, source, path in scores:
        if path not in renames and source not in renames.values():
            renames[path] = source
    return renames


def _lines(file: File) -> Counter[bytes]:
    binary = b"\0" in file.content[:8192] or len(file.content) > _LARGEST
    return Counter() if binary else Counter(file.content.splitlines(keepends=True))


def _similarity(one: Counter[bytes], other: Counter[bytes]) -> float:
    longer = max(_size(one), _size(other))
    return _size(one & other) / longer if longer else 0.0


def _size(lines: Counter[bytes]) -> int:
    return sum(len(line) * count for line, count in lines.items())
