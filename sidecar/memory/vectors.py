"""Static vectors of chunks (`memory_vectors`, off by default): one more ranked list beside the words.

They are a pass of their own over an index: each file that has none yet gets one row with a vector of `SIZE` signed
bytes for each of its chunks. So a killed pass goes on, and turning them off leaves rows that are never read.

Measured on seven repositories (commits: files among the first 5; documentation: functions among the first 10): words,
history and imports 0.74 and 0.82, vectors alone 0.49 and 0.62, both fused 0.73 and 0.81; on three others they change
nothing. So they count little, and bring what no word finds. They cost 128 bytes a chunk of code, a tenth of the index,
a fifth to a third of the indexer's time, 50 MB of memory and 10 to 15 ms a search.
"""

import math
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from sidecar.config.weights import VectorsUnavailable, find_weights
from sidecar.memory.candidates import Filters
from sidecar.memory.features import ChunkCandidate, FileCandidate
from sidecar.memory.indexer import Indexer, digest
from sidecar.memory.postings import CHUNKS_PER_FILE, FILE_SHIFT
from sidecar.memory.query_terms import QueryTerms
from sidecar.memory.ranking import Ranked
from sidecar.memory.store import VECTORS, get_meta, set_meta, transaction
from sidecar.memory.tokens import stem
from sidecar.memory.word_vectors import SIZE, Array, WordVectors, count_words

#: Chunks beyond this have no vector: 200,000 take 25.6 MB.
MAX_CHUNKS = 200_000
_FILES_AT_ONCE = 200
_MAX_CHARACTERS = 6_000
#: How much a word of a chunk's name and of its file's name counts.
_NAME_WEIGHT = 3.0
_FILE_WEIGHT = 1.5
#: The numbers of a vector of length 1 are small; larger ones than a half are cut.
_SCALE = 254.0
_BLOCK_BYTES = 1024 * 1024
_NEAREST = 100
#: Reciprocal rank fusion. A list that is right so much less often than the words counts so much less.
_RANKS = 30
_SHARE = 0.1
#: What no word finds must be at least so near: of an unrelated question, the nearest chunk has 0.2 to 0.4.
_ALIKE = 0.45


class Near(NamedTuple):
    chunk: int
    score: float


@cache
def load_vectors() -> WordVectors:
    """Read once in a process. Raises `VectorsUnavailable`."""
    return WordVectors(find_weights())


# -- storing ---------------------------------------------------------------------------------------------------------


def embed_missing(store: sqlite3.Connection, workspace: str) -> None:
    """Give each file of the index its vectors, up to the limit."""
    try:
        vectors = load_vectors()
    except VectorsUnavailable:
        return  # `brain doctor` says why
    with transaction(store):
        store.execute(VECTORS.replace("TABLE", "TABLE IF NOT EXISTS", 1))
        if get_meta(store, "vectors") != vectors.name:
            store.execute("DELETE FROM vectors")
            set_meta(store, "vectors", vectors.name)
        store.execute("DELETE FROM vectors WHERE file NOT IN (SELECT id FROM files)")
    room = MAX_CHUNKS - store.execute("SELECT coalesce(sum(length(data)), 0) FROM vectors").fetchone()[0] // SIZE
    # Code only: the ids of tests, documents and configuration are odd.
    missing = store.execute(
        "SELECT id, path, hash FROM files WHERE id % 2 = 0 AND length > 0 AND id NOT IN (SELECT file FROM vectors)"
    ).fetchall()
    indexer = Indexer(store, workspace)
    try:
        for start in range(0, len(missing), _FILES_AT_ONCE):
            rows = []
            for file, path, hashed in missing[start : start + _FILES_AT_ONCE]:
                content = indexer.read(path)[2]
                if content is None or digest(content) != hashed:
                    continue  # it changed meanwhile, and is indexed again
                chunks = _chunks_of(store, file)
                if len(chunks) > room:
                    continue
                room -= len(chunks)
                rows.append((file, _embed_file(vectors, path, content.decode("utf-8", "replace"), chunks)))
            with transaction(store):
                # It may have been dropped since.
                statement = "INSERT OR IGNORE INTO vectors SELECT ?, ? WHERE EXISTS (SELECT 1 FROM files WHERE id = ?)"
                store.executemany(statement, [(file, data, file) for file, data in rows])
    finally:
        indexer.close()


_Chunk = tuple[int, int, int, str]


def _chunks_of(store: sqlite3.Connection, file: int) -> list[_Chunk]:
    query = "SELECT id, line, end_line, symbol FROM chunks WHERE id BETWEEN ? AND ? ORDER BY id"
    first = file * CHUNKS_PER_FILE
    return store.execute(query, (first, first + CHUNKS_PER_FILE - 1)).fetchall()


def _embed_file(vectors: WordVectors, path: str, text: str, chunks: Sequence[_Chunk]) -> bytes:
    """The vectors in the order of the chunks' places, zeros where there is no chunk or no word."""
    import numpy

    lines = text.split("\n")
    places = chunks[-1][0] % CHUNKS_PER_FILE + 1 if chunks else 0
    found = numpy.zeros((places, SIZE), numpy.int8)
    stem_words = count_words(path.rpartition("/")[2].partition(".")[0])
    for chunk, line, end_line, symbol in chunks:
        words = count_words("\n".join(lines[line - 1 : end_line])[:_MAX_CHARACTERS])
        for name in count_words(symbol or ""):
            words[name] = words.get(name, 0.0) + _NAME_WEIGHT
        for name in stem_words:
            words[name] = words.get(name, 0.0) + _FILE_WEIGHT
        vector = vectors.embed(words)
        if vector is not None:
            found[chunk % CHUNKS_PER_FILE] = numpy.clip(numpy.rint(vector * _SCALE), -127, 127)
    return bytes(found.tobytes())


# -- searching -------------------------------------------------------------------------------------------------------


def find_nearest(store: sqlite3.Connection, query: str, question: QueryTerms) -> list[Near]:
    """The chunks whose vectors are nearest to the question's, the best first."""
    import numpy

    vectors = _vectors_of(store)
    if vectors is None:
        return []
    weights = {term.text: term.weight for term in question.terms}
    unknown = math.log(1 + question.chunks)
    wanted = vectors.embed({word: weights.get(stem(word), unknown) for word in count_words(query)})
    if wanted is None:
        return []
    chunks: list[Array] = []
    scores: list[Array] = []
    for files, rows in _blocks(store):
        table = numpy.frombuffer(b"".join(rows), numpy.int8).reshape(-1, SIZE)
        counts = [len(row) // SIZE for row in rows]
        first = numpy.repeat(numpy.asarray(files, numpy.int64) * CHUNKS_PER_FILE, counts)
        chunks.append(first + numpy.concatenate([numpy.arange(count) for count in counts]))
        scores.append(table.astype(numpy.float32) @ wanted)
    if not chunks:
        return []
    ids, found = numpy.concatenate(chunks), numpy.concatenate(scores)
    best = numpy.argsort(-found, kind="stable")[:_NEAREST]
    return [Near(int(ids[each]), float(found[each]) / _SCALE) for each in best if found[each] > 0]


def _vectors_of(store: sqlite3.Connection) -> WordVectors | None:
    """Those that the index was made with; `None` if it has none, or others."""
    name = get_meta(store, "vectors")
    with suppress(VectorsUnavailable):
        if name and load_vectors().name == name:
            return load_vectors()
    return None


def _blocks(store: sqlite3.Connection) -> Iterable[tuple[list[int], list[bytes]]]:
    """So many at once that computing with them takes little memory."""
    files: list[int] = []
    rows: list[bytes] = []
    size = 0
    for file, data in store.execute("SELECT file, data FROM vectors WHERE length(data) > 0"):
        files.append(file)
        rows.append(data)
        size += len(data)
        if size >= _BLOCK_BYTES:
            yield files, rows
            files, rows, size = [], [], 0
    if rows:
        yield files, rows


def fuse(
    store: sqlite3.Connection, ranked: Iterable[Ranked], nearest: Sequence[Near], filters: Filters
) -> list[Ranked]:
    """Both lists by their ranks; what only the vectors find comes with the reason that it is alike."""
    by_words = list(ranked)
    found = {each.chunk.id: each for each in by_words}
    scores = {each.chunk.id: _RANKS / (_RANKS + rank) for rank, each in enumerate(by_words)}
    new = [near.chunk for near in nearest if near.chunk not in found and near.score >= _ALIKE]
    # How lately a file changed is known of the others only.
    found |= {each.chunk.id: each for each in ([] if filters.days else _load(store, new, filters))}
    for rank, near in enumerate(nearest):
        if near.chunk in found:
            scores[near.chunk] = scores.get(near.chunk, 0.0) + _SHARE * _RANKS / (_RANKS + rank)
    best = sorted(scores, key=lambda chunk: -scores[chunk])
    return [found[chunk]._replace(score=scores[chunk]) for chunk in best]


def _load(store: sqlite3.Connection, chunks: Sequence[int], filters: Filters) -> Iterable[Ranked]:
    marks = ", ".join("?" * len(chunks))
    rows = store.execute(
        "SELECT chunks.id, line, end_line, symbol, name, chunks.kind, path, files.kind, language FROM chunks"  # noqa: S608
        f" JOIN files ON files.id = chunks.file WHERE chunks.id IN ({marks})",
        chunks,
    )
    for number, line, end_line, symbol, name, kind, path, of_file, language in rows:
        if filters.file(path, language or "") and filters.chunk(kind):
            file = FileCandidate(number >> FILE_SHIFT, path, of_file, language or "")
            features = {"exact": 0.0, "name_coverage": 0.0, "alike": 1.0}
            chunk = ChunkCandidate(number, file.id, line, end_line, symbol, name, kind, features)
            yield Ranked(0.0, file, chunk)
