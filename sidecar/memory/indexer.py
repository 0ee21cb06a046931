"""Writes files into a workspace's index. The builder process uses it for all files, the sidecar for a few."""

import re
import sqlite3
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from zlib import crc32

from sidecar.memory.chunks import Chunk, FileFacts, cut
from sidecar.memory.imports import ImportRow, imports_of
from sidecar.memory.resolver import Resolver, unit_of
from sidecar.memory.store import get_meta, set_meta
from sidecar.memory.tokens import WORD, count_terms, name_terms
from tools.code.files import is_test
from tools.code.source import SourceText
from tools.errors import ToolError
from tools.local.files import whole_file
from tools.local.root import WorkspaceRoot
from tools.protected import secret_part
from tools.skipped import is_skipped

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
_MAX_COUNT = 255


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


def pack(counts: Mapping[str, int]) -> tuple[bytes, bytes]:
    """Hashes of a file's terms, sorted, and how often each occurs."""
    rows = sorted((crc32(term.encode()), min(n, _MAX_COUNT)) for term, n in counts.items())
    return array("I", [row[0] for row in rows]).tobytes(), bytes(row[1] for row in rows)


def pack_chunk(counts: Mapping[str, int]) -> tuple[bytes, bytes]:
    """The same for a chunk in half the room: it has few terms, so that hashes of 16 bits hardly ever collide."""
    found: dict[int, int] = {}
    for term, n in counts.items():
        key = short_hash(term)
        found[key] = found.get(key, 0) + n
    keys = sorted(found)
    return array("H", keys).tobytes(), bytes([n if (n := found[key]) < _MAX_COUNT else _MAX_COUNT for key in keys])


@lru_cache(100_000)
def short_hash(term: str) -> int:
    return crc32(term.encode()) & 0xFFFF


class Indexer:
    def __init__(self, store: sqlite3.Connection, workspace: str) -> None:
        self._store = store
        self._root = WorkspaceRoot(workspace)

    def close(self) -> None:
        self._root.close()

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
            self._drop(row[0])
            self._store.execute("DELETE FROM files WHERE id = ?", row)

    def _drop(self, file: int) -> None:
        """The rows of the full-text tables stay, without a chunk or file; `dead` counts them."""
        dropped = self._store.execute("DELETE FROM chunks WHERE file = ?", (file,)).rowcount
        for table in ("imports", "calls"):
            self._store.execute(f"DELETE FROM {table} WHERE file = ?", (file,))  # noqa: S608
        self._store.execute("DELETE FROM edges WHERE source = ?", (file,))
        set_meta(self._store, "dead", int(get_meta(self._store, "dead") or 0) + max(dropped, 0))

    def update(self, path: str) -> bool:
        """Bring one file's rows up to date; whether anything but its stamp changed. Inside of a transaction."""
        size, mtime, content = self.read(path)
        if content is None or (not content.strip() and not path.endswith("__init__.py")):
            known = self._store.execute("SELECT 1 FROM files WHERE path = ?", (path,)).fetchone()
            self.remove(path)
            return known is not None
        hashed = digest(content)
        row = self._store.execute("SELECT id, hash FROM files WHERE path = ?", (path,)).fetchone()
        if row is not None and row[1] == hashed:
            self._store.execute("UPDATE files SET size = ?, mtime = ? WHERE id = ?", (size, mtime, row[0]))
            return False
        if row is not None:
            self._drop(row[0])
            self._store.execute("DELETE FROM files WHERE id = ?", (row[0],))
        self._insert(path, size, mtime, hashed, content)
        return True

    def _insert(self, path: str, size: int, mtime: int, hashed: bytes, content: bytes) -> None:
        source = SourceText(path, content)
        kind = _kind(path, content, known=source.language is not None)
        facts = _facts(source, kind)
        text = source.text.decode("utf-8", "replace")
        words = (
            array("I", sorted({crc32(word.encode()) for word in WORD.findall(text)})) if path.endswith(".go") else b""
        )
        # Ids are never used again: the full-text tables still hold the rows of files that are gone.
        number = int(get_meta(self._store, "next") or 1)
        set_meta(self._store, "next", number + 1)
        file = _id(number, kind)
        language = source.language.name if source.language else ""
        total, names = self._insert_chunks(file, path, facts, kind)
        terms, counts = pack(total)
        self._store.execute(
            "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (file, path, size, mtime, hashed, language, kind, text.count("\n") + 1, unit_of(path), terms, counts,
             bytes(words)),
        )  # fmt: skip
        if facts.chunks:
            columns = (file, " ".join(name_terms(path)), " ".join(names), _spread(total))
            self._store.execute("INSERT INTO file_text (rowid, path, names, body) VALUES (?, ?, ?, ?)", columns)
        self._store.executemany(
            "INSERT INTO imports VALUES (?, ?, ?, ?, ?, ?, ?)", [(file, *each) for each in _raw(source, facts)]
        )

    def _insert_chunks(self, file: int, path: str, facts: FileFacts, kind: str) -> tuple[Counter[str], dict[str, None]]:
        total: Counter[str] = Counter()
        names: dict[str, None] = {}
        first = _next_chunk(self._store)
        stem = path.rpartition("/")[2].partition(".")[0]
        rows, texts = [], []
        for number, chunk in enumerate(facts.chunks, first):
            key = _id(number, kind)
            body, doc = count_terms(chunk.text), count_terms(chunk.doc) if chunk.doc else Counter[str]()
            both = body + doc if doc else body
            scope, _, name = chunk.symbol.rpartition(".") if chunk.kind != "section" else ("", "", chunk.symbol)
            terms, counts = pack_chunk(both)
            total.update(both)
            names.update(dict.fromkeys(name_terms(name)))
            length = sum(both.values())
            rows.append(
                (key, file, chunk.line, chunk.end_line, chunk.symbol, name, chunk.kind, chunk.complexity, length,
                 terms, counts)
            )  # fmt: skip
            scopes = " ".join(name_terms(f"{scope} {stem}"))
            texts.append((key, " ".join(name_terms(name)), scopes, _spread(doc), _spread(body)))
        self._store.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        self._store.executemany("INSERT INTO chunk_text (rowid, name, scope, doc, body) VALUES (?, ?, ?, ?, ?)", texts)
        self._insert_calls(file, first, facts, kind)
        set_meta(self._store, "next_chunk", first + len(rows))
        return total, names

    def _insert_calls(self, file: int, first: int, facts: FileFacts, kind: str) -> None:
        """Each name that a chunk calls, once; the innermost definition around the line is the caller."""
        around = _innermost(facts.chunks)
        rows: dict[tuple[int, str], int] = {}
        for call in facts.calls:
            place = around.get(call.line, -1)
            rows.setdefault((_id(first + place, kind) if place >= 0 else 0, call.name), call.line)
        self._store.executemany(
            "INSERT INTO calls VALUES (?, ?, ?, ?)", [(file, chunk, name, line) for (chunk, name), line in rows.items()]
        )

    def resolve(self, resolver: Resolver, files: Iterable[tuple[int, str]]) -> None:
        """Replace the import edges of these files."""
        for file, path in files:
            self._store.execute("DELETE FROM edges WHERE source = ?", (file,))
            rows = self._store.execute(
                "SELECT line, module, name, alias, exported, member FROM imports WHERE file = ?", (file,)
            ).fetchall()
            edges: dict[tuple[str, str, str], tuple[object, ...]] = {}
            for row in rows:
                each = ImportRow(*row)
                for edge in resolver.resolve(each, path):
                    key = (edge.target, edge.name, each.alias if each.exported else "")
                    edges.setdefault(
                        key, (file, edge.target, edge.name, each.alias, each.line, each.exported, edge.certain)
                    )
            self._store.executemany("INSERT INTO edges VALUES (?, ?, ?, ?, ?, ?, ?)", edges.values())


def _id(number: int, kind: str) -> int:
    """Even for the product's own code, odd for tests, documents and configuration: a search asks for each apart."""
    return 2 * number + (kind != "code")


def _next_chunk(store: sqlite3.Connection) -> int:
    return int(get_meta(store, "next_chunk") or 1)


def _spread(counts: Mapping[str, int]) -> str:
    """Terms as text for the full-text table, each as often as it counts, but at most three times."""
    return " ".join(
        [term if n == 1 else f"{term} {term}" if n == 2 else f"{term} {term} {term}" for term, n in counts.items()]
    )


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


def _raw(source: SourceText, facts: FileFacts) -> Iterable[tuple[object, ...]]:
    for each in imports_of(source, facts.imports):
        yield (each.line, each.module[:500], each.name[:200], each.alias[:200], int(each.exported), each.member[:200])


def _innermost(chunks: Sequence[Chunk]) -> dict[int, int]:
    """For each line, the place of the innermost definition that holds it."""
    found: dict[int, int] = {}
    for place, chunk in enumerate(chunks):  # outer definitions come first
        if chunk.symbol and chunk.kind not in ("section", "text"):
            found.update(dict.fromkeys(range(chunk.line, chunk.end_line + 1), place))
    return found


def has_words(words: bytes, name: str) -> bool:
    """Whether packed words or terms hold this one."""
    found = array("I", words)
    key = crc32(name.encode())
    place = bisect_left(found, key)
    return place < len(found) and found[place] == key
