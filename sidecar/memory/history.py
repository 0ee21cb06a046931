"""Reads the repository's history into the index: which commit, with which message, changed which files."""

import re
import sqlite3
import time
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress

from sidecar.memory.postings import HISTORY, Accumulator
from sidecar.memory.store import get_meta, set_meta, transaction
from sidecar.memory.tokens import count_terms
from tools.errors import ToolError
from tools.host import Host, OutputCollector

_COMMITS = 5_000
_MAX_FILES = 60
_SECONDS = 60.0
_OUTPUT = 16 << 20
_SUBJECT = 500
#: Trailers and links say nothing about the change.
_TRAILER = re.compile(
    r"^(?:[A-Z][\w-]+-by|Change-Id|Closes|Fixes|Refs?|See|PR-URL):.*$|https?://\S+", re.MULTILINE | re.I
)


async def read_history(store: sqlite3.Connection, host: Host) -> None:
    """Replace the history if the checked-out commit is another one. Without Git or a repository there is none."""
    with suppress(ToolError):
        head = await _git(host, ["rev-parse", "--verify", "HEAD"])
        if head and head != get_meta(store, "head"):
            log = await _git(host, ["log", f"-{_COMMITS}", "--no-renames", "--name-only", "--no-merges",
                                    "--format=%x01%ct%x02%an%x02%s%x02%b%x03"])  # fmt: skip
            _write(store, head, list(_parse(log)))


async def _git(host: Host, words: Sequence[str]) -> str:
    output = OutputCollector(_OUTPUT)
    await host.git(words, call_id="memory-git", timeout=_SECONDS, output=output)
    return output.text.strip() if words[0] == "rev-parse" else output.text


Commit = tuple[int, str, str, str, list[str]]


def _parse(log: str) -> Iterator[Commit]:
    for record in log.split("\x01")[1:]:
        head, _, names = record.partition("\x03")
        fields = head.split("\x02")
        if len(fields) == 4 and fields[0].isdecimal():
            files = [name for name in names.strip().split("\n") if name]
            yield int(fields[0]), fields[1][:100], fields[2][:_SUBJECT], _TRAILER.sub("", fields[3])[:2_000], files


def _write(store: sqlite3.Connection, head: str, commits: Sequence[Commit]) -> None:
    """Commits are numbered from the newest on; a commit names its paths, and a path its commits."""
    paths: dict[str, int] = {}
    changes: dict[int, list[int]] = {}
    rows = []
    postings = Accumulator()
    for number, (at, author, subject, body, files) in enumerate(commits, 1):
        named = [paths.setdefault(name, len(paths) + 1) for name in files] if len(files) <= _MAX_FILES else []
        rows.append((number, at, author, subject, array("I", named).tobytes()))
        for path in named:
            changes.setdefault(path, []).append(number)
        if named:
            terms = count_terms(f"{subject}\n{subject}\n{body}")
            postings.add(number, terms, terms.total())
    with transaction(store):
        for table in ("commits", "paths"):
            store.execute(f"DELETE FROM {table}")  # noqa: S608
        store.execute("DELETE FROM postings WHERE segment = ?", (HISTORY,))
        store.executemany("INSERT INTO commits VALUES (?, ?, ?, ?, ?)", rows)
        named_paths = [(key, name, array("I", changes[key]).tobytes()) for name, key in paths.items()]
        store.executemany("INSERT INTO paths VALUES (?, ?, ?)", named_paths)
        postings.write(store, HISTORY)
        set_meta(store, "head", head)
        set_meta(store, "commits", len(commits))
        set_meta(store, "history_read", time.time())
