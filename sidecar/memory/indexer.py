"""Writes files into a workspace's index. The builder process uses it for all files, the sidecar for a few."""

import json
import re
import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from zlib import crc32

from sidecar.memory.calls import CallAccumulator
from sidecar.memory.chunks import Chunk, FileFacts, cut
from sidecar.memory.imports import ImportRow, imports_of
from sidecar.memory.postings import (
    CHUNKS_PER_FILE,
    EDITS,
    LAST_FILE,
    NAME,
    PATH_PLACE,
    Accumulator,
    begin_segment,
)
from sidecar.memory.resolver import Resolver, unit_of
from sidecar.memory.store import get_meta, set_meta
from sidecar.memory.tokens import count_terms, name_terms, words_of
from tools.code.source import SourceText
from tools.errors import ToolError
from tools.local.files import whole_file
from tools.local.root import WorkspaceRoot
from tools.protected import secret_part
from tools.skipped import is_skipped
from tools.test_files import is_test

#: Larger files are data or generated.
MAX_BYTES = 1 << 20
_MAX_TEXT_BYTES = 256 << 10
_TEXTS = """
.md .mdx .markdown .rst .txt .adoc .toml .yaml .yml .json .ini .cfg .conf .properties .xml .html .css .scss .less .sql
.sh .bash .zsh .fish .ps1 .rb .php .cs .kt .kts .swift .scala .lua .pl .r .jl .ex .exs .erl .hs .ml .clj .dart .vue
.svelte .proto .graphql .gql .tf .gradle .cmake .mk .tmpl .j2 .jinja
"""
_TEXT_SUFFIXES = frozenset(_TEXTS.split())
_TEXT_NAMES = frozenset(("Makefile", "Dockerfile", "Justfile", "CMakeLists.txt", "Rakefile", "Gemfile", "go.mod"))
_VENDORED = frozenset(("vendor", "third_party", "thirdparty", "bower_components"))
_LOCKS = re.compile(r"(?:^|/)(?:[\w.-]*[-.]lock(?:\.\w+)?|package-lock\.json|npm-shrinkwrap\.json|go\.sum)$")
_GENERATED = re.compile(rb"Code generated .{0,80}DO NOT EDIT|@generated\b|THIS FILE IS (?:AUTO-?)?GENERATED", re.I)
_PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY")
_LONG_LINE = 5_000
#: How often a term of a chunk's name, of its scope or file name, and of a path counts.
_NAME_WEIGHT = 6
_SCOPE_WEIGHT = 2
_PATH_WEIGHT = 2
_PATH_LENGTH = 8
_LAST = LAST_FILE // 2
#: The postings that take as much memory as the other rows of a small file.
_FILE_SIZE = 40
INSERT_EDGE = "INSERT OR IGNORE INTO edges VALUES (?, ?, ?, ?, ?, ?, ?)"
_INSERTS = {
    "stamps": "UPDATE files SET size = ?, mtime = ? WHERE id = ?",
    "files": "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "definitions": "INSERT INTO definitions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    "imports": "INSERT INTO imports VALUES (?, ?)",
}


def wanted(path: str) -> bool:
    """Whether a file of this name belongs into the index."""
    folders, _, name = path.rpartition("/")
    if is_skipped(path) or secret_part(path) or not _VENDORED.isdisjoint(folders.split("/")):
        return False
    if name in _TEXT_NAMES:
        return True
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    if _LOCKS.search(path) or name.endswith((".min.js", ".min.css", ".map")):
        return False
    from tools.code.languages import SUFFIXES

    return suffix in SUFFIXES or suffix in _TEXT_SUFFIXES


def digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=12).digest()


class Indexer:
    """Collects the rows of files until `flush` writes them; nothing is written in between."""

    def __init__(self, store: sqlite3.Connection, workspace: str) -> None:
        self._store = store
        self._root = WorkspaceRoot(workspace)
        self._postings = Accumulator()
        self._calls = CallAccumulator()
        self._rows: dict[str, list[tuple[object, ...]]] = {table: [] for table in _INSERTS}
        self._gone: set[int] = set()
        self._next = int(get_meta(store, "next") or 1)

    def close(self) -> None:
        self._root.close()

    @property
    def size(self) -> int:
        """How many postings wait to be written; the rows of a file take as much memory as some of them."""
        return self._postings.size + _FILE_SIZE * len(self._rows["files"])

    @property
    def full(self) -> bool:
        """Whether there are no more ids: they are never used again, since old postings hold them."""
        return self._next >= _LAST

    def read(self, path: str, limit: int = MAX_BYTES) -> tuple[int, int, bytes | None]:
        """Size, modification time and content; the content is missing if the file isn't for the index."""
        try:
            info, content = whole_file(self._root, path, limit, secrets=False)
        except (ToolError, OSError):
            return 0, 0, None
        if content is not None and (b"\0" in content[:8_192] or _PRIVATE_KEY.search(content)):
            content = None
        return info.size, info.mtime_ns, content

    def text(self, path: str) -> str:
        content = self.read(path)[2]
        return content.decode("utf-8", "replace") if content is not None else ""

    def remove(self, path: str) -> None:
        row = self._store.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
        if row is not None:
            self._gone.add(row[0])

    def update(self, path: str) -> bool:
        """Collect one file's rows if it changed; whether anything but its stamp did."""
        size, mtime, content = self.read(path)
        row = self._store.execute("SELECT id, hash FROM files WHERE path = ?", (path,)).fetchone()
        if content is None or (not content.strip() and not path.endswith("__init__.py")):
            self.remove(path)
            return row is not None
        hashed = digest(content)
        if row is not None and row[1] == hashed:
            self._rows["stamps"].append((size, mtime, row[0]))
            return False
        if row is not None:
            self._gone.add(row[0])
        self._collect(path, size, mtime, hashed, content)
        return True

    def flush(self, *, edits: bool = False) -> None:
        """Write what was collected, as a segment of its own or with other edits. Inside of a transaction."""
        for file in self._gone:
            self._drop(file)
        for table, statement in _INSERTS.items():
            self._store.executemany(statement, self._rows[table])
            self._rows[table].clear()
        if edits:
            self._postings.append(self._store, EDITS, self._gone)
            self._calls.append(self._store, EDITS, self._gone)
            set_meta(self._store, "edits", 1)
        elif self._postings.size:
            segment = begin_segment(self._store)
            self._postings.write(self._store, segment)
            self._calls.write(self._store, segment)
        self._gone.clear()
        set_meta(self._store, "next", self._next)

    def _drop(self, file: int) -> None:
        """The file's postings and calls stay and lead to nothing until they are joined; `dead` counts their chunks."""
        first = file * CHUNKS_PER_FILE
        chunks = "DELETE FROM definitions WHERE id BETWEEN ? AND ?"
        dropped = self._store.execute(chunks, (first, first + PATH_PLACE)).rowcount
        for table, column in (("imports", "file"), ("edges", "source"), ("files", "id")):
            self._store.execute(f"DELETE FROM {table} WHERE {column} = ?", (file,))  # noqa: S608
        set_meta(self._store, "dead", int(get_meta(self._store, "dead") or 0) + dropped + 1)  # its path is one

    def _collect(self, path: str, size: int, mtime: int, hashed: bytes, content: bytes) -> None:
        source = SourceText(path, content)
        kind = _kind(path, content, known=source.language is not None)
        facts = _facts(source, kind)
        text = source.text.decode("utf-8", "replace")
        words = array("I", sorted({crc32(word.encode()) for word in words_of(text)})) if path.endswith(".go") else b""
        # Even for the product's own code, odd for the rest: a search counts each apart.
        file = 2 * self._next + (kind != "code")
        self._next += 1
        language = source.language.name if source.language else ""
        length = self._collect_chunks(file, path, facts)
        self._rows["files"].append(
            (file, path, size, mtime, hashed, language, kind, text.count("\n") + 1,
             unit_of(path) if words else None, length, bytes(words))
        )  # fmt: skip
        if statements := [_packed(each) for each in imports_of(source, facts.imports)]:
            self._rows["imports"].append((file, json.dumps(statements, ensure_ascii=False, separators=(",", ":"))))

    def _collect_chunks(self, file: int, path: str, facts: FileFacts) -> int:
        """The sum of the chunks' lengths."""
        total = 0
        first = file * CHUNKS_PER_FILE
        file_terms = name_terms(path.rpartition("/")[2].partition(".")[0])
        for key, chunk in enumerate(facts.chunks[:PATH_PLACE], first):
            terms = count_terms(f"{chunk.doc}\n{chunk.text}" if chunk.doc else chunk.text)
            length = terms.total()
            total += length
            scope, _, name = chunk.symbol.rpartition(".") if chunk.kind != "section" else ("", "", chunk.symbol)
            self._rows["definitions"].append(
                (key, chunk.line, chunk.end_line, scope, name, chunk.kind, chunk.complexity, length)
            )
            known = terms.get  # a counter asks a function for each term that it doesn't know
            for term in name_terms(name):
                terms[term] = known(term, 0) + _NAME_WEIGHT
                terms[NAME + term] = _NAME_WEIGHT
            for term in (*name_terms(scope), *file_terms) if scope else file_terms:
                terms[term] = known(term, 0) + _SCOPE_WEIGHT
            self._postings.add(key, terms, length)
        if facts.chunks:
            self._postings.add(first + PATH_PLACE, dict.fromkeys(name_terms(path), _PATH_WEIGHT), _PATH_LENGTH)
        self._collect_calls(file, facts)
        return total

    def _collect_calls(self, file: int, facts: FileFacts) -> None:
        """Each name that a chunk calls, once, from its first line; the innermost definition around it is the caller."""
        if not facts.calls:
            return
        around = _innermost(facts.chunks, facts.calls[-1].line)
        first = file * CHUNKS_PER_FILE
        lines: dict[tuple[int, str], int] = {}
        for line, name in facts.calls:
            lines.setdefault((around[line], name), line)
        for (place, name), line in lines.items():
            self._calls.add(name, first + place, line)

    def resolve(self, resolver: Resolver, files: Iterable[tuple[int, str]]) -> None:
        """Replace the import edges of these files."""
        for file, path in files:
            self._store.execute("DELETE FROM edges WHERE source = ?", (file,))
            edges: dict[tuple[str, str, str], tuple[object, ...]] = {}
            for each in read_imports(self._store, file):
                for edge in resolver.resolve(each, path):
                    key = (edge.target, edge.name, each.alias if each.exported else "")
                    # An alias that is the name itself is none.
                    alias = each.alias if each.alias != edge.name else ""
                    edges.setdefault(
                        key, (file, edge.target, edge.name, int(each.exported), alias, each.line, edge.certain)
                    )
            if edges:
                self._store.executemany(INSERT_EDGE, edges.values())


def _kind(path: str, content: bytes, *, known: bool) -> str:
    if known and _GENERATED.search(content[:2_000]):
        return "generated"
    if is_test(path):
        return "test"
    if known:
        return "code"
    return "doc" if path.endswith((".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc")) else "config"


def _facts(source: SourceText, kind: str) -> FileFacts:
    """Generated files and data count in the import graph, but aren't searched."""
    facts = cut(source)
    long = len(source.text) > _MAX_TEXT_BYTES and source.language is None
    widest = max(map(len, source.text.split(b"\n")))
    return facts._replace(chunks=[]) if kind == "generated" or long or widest > _LONG_LINE else facts


def _packed(each: ImportRow) -> tuple[object, ...]:
    """The fields of an import, without defaults at its end."""
    if each.member:
        return each.line, each.module[:500], each.name[:200], each.alias[:200], int(each.exported), each.member[:200]
    if each.exported:
        return each.line, each.module[:500], each.name[:200], each.alias[:200], 1
    return each.line, each.module[:500], each.name[:200], each.alias[:200]


def read_imports(store: sqlite3.Connection, file: int) -> list[ImportRow]:
    """The import statements of a file, as they were when it was indexed."""
    row = store.execute("SELECT statements FROM imports WHERE file = ?", (file,)).fetchone()
    return [] if row is None else [ImportRow(*each) for each in json.loads(row[0])]


def _innermost(chunks: Sequence[Chunk], last: int) -> list[int]:
    """For each line, the place of the innermost definition that holds it, or the place of the file's path."""
    found = [PATH_PLACE] * (last + 1)
    for place, chunk in enumerate(chunks[:PATH_PLACE]):  # outer definitions come first
        if chunk.symbol and chunk.kind not in ("section", "text"):
            end = min(chunk.end_line, last) + 1
            found[chunk.line : end] = [place] * (end - chunk.line)
    return found


def has_words(words: bytes, name: str) -> bool:
    """Whether packed words hold this one."""
    found = array("I", words)
    key = crc32(name.encode())
    place = bisect_left(found, key)
    return place < len(found) and found[place] == key
