"""Vectors of past tasks and notes in the database of a fleet, where it has the extension `pgvector`.

They are made when somebody searches, a few hundred at a time, the newest first. Without the extension, without weights
or while the database refuses, past work is found by its words alone.
"""

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import psycopg

from sidecar.config.weights import VectorsUnavailable
from sidecar.journal.errors import JournalError
from sidecar.journal.postgres.connection import without_zeros
from sidecar.journal.postgres.journal import PostgresJournal
from sidecar.memory.past import Stale
from sidecar.memory.vectors import load_vectors
from sidecar.memory.word_vectors import SIZE, Array, WordVectors, count_words
from sidecar.wire.tasks import Status

log = logging.getLogger(__name__)

#: Tasks and notes that one search gives vectors.
_AT_ONCE = 300
#: Rows in all: 100,000 take about 60 MB.
_MAX_ROWS = 100_000
_MAX_CHARACTERS = 4_000
_NEAREST = 100
_WHERE = "SELECT nspname FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'vector'"
_OFFERED = "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
#: What is deleted takes its vector along. `seq` is the last event of the task that it was made of.
_TABLE = f"""
CREATE TABLE IF NOT EXISTS past_vectors (
    task TEXT UNIQUE REFERENCES tasks (id) ON DELETE CASCADE,
    note TEXT UNIQUE REFERENCES notes (id) ON DELETE CASCADE,
    workspace TEXT NOT NULL, seq BIGINT NOT NULL, weights TEXT NOT NULL, vector {{home}}.vector({SIZE}) NOT NULL
)
"""
_STALE = """
SELECT t.id, NULL, t.position FROM tasks t LEFT JOIN past_vectors v ON v.task = t.id
WHERE t.status = ANY (%(statuses)s) AND (v.task IS NULL OR v.seq != t.last_seq OR v.weights != %(weights)s)
UNION ALL
SELECT NULL, n.id, NULL FROM notes n LEFT JOIN past_vectors v ON v.note = n.id
WHERE n.state = 'accepted' AND (v.note IS NULL OR v.weights != %(weights)s)
ORDER BY 3 DESC NULLS FIRST
LIMIT least(%(limit)s, %(most)s - (SELECT count(*) FROM past_vectors))
"""
_DROP = "DELETE FROM past_vectors WHERE task = ANY (%s) OR note = ANY (%s) RETURNING 1"
#: Not of what was deleted meanwhile.
_ADD = """
INSERT INTO past_vectors (task, note, workspace, seq, weights, vector)
SELECT task, note, workspace, seq, %s, vector::{home}.vector
FROM unnest(%s::text[], %s::text[], %s::text[], %s::bigint[], %s::text[]) AS new (task, note, workspace, seq, vector)
WHERE EXISTS (SELECT FROM tasks WHERE id = new.task) OR EXISTS (SELECT FROM notes WHERE id = new.note)
ON CONFLICT DO NOTHING RETURNING 1
"""


class SharedVectors:
    def __init__(self, journal: PostgresJournal) -> None:
        self._journal = journal
        #: The schema of the extension, as SQL; empty if there is none, and `None` until the first search.
        self._home: str | None = None

    async def stale(self, statuses: Collection[Status]) -> Sequence[Stale]:
        """Ended tasks and accepted notes without a vector of what they are now; none if there are no vectors."""
        if (vectors := await self._ready()) is None:
            return ()
        wanted = {"statuses": list(statuses), "weights": vectors.name, "limit": _AT_ONCE, "most": _MAX_ROWS}
        return [Stale(*row[:2]) for row in await self._ask(_STALE, wanted)]

    async def add(self, works: Sequence[tuple[Stale, str, int, str]]) -> None:
        """Each with its workspace, its last event, and its text."""
        if not works or (vectors := await self._ready()) is None:
            return
        texts = await asyncio.to_thread(_embed_all, vectors, [text for *_, text in works])
        tasks, notes = [each.task for each, *_ in works], [each.note for each, *_ in works]
        places = [without_zeros(workspace) for _, workspace, _, _ in works]
        await self._ask(_DROP, (tasks, notes))
        seqs = [seq for _, _, seq, _ in works]
        await self._ask(_ADD.format(home=self._home), (vectors.name, tasks, notes, places, seqs, texts))

    async def nearest(self, query: str, workspaces: Collection[str]) -> Mapping[str, float]:
        """How alike the nearest tasks and notes are, by id; of all workspaces if none is named."""
        vectors = await self._ready()
        wanted = None if vectors is None else vectors.embed(count_words(query))
        if vectors is None or wanted is None:
            return {}
        near = f"vector OPERATOR({self._home}.<=>) %(wanted)s::{self._home}.vector"
        rows = await self._ask(
            f"SELECT coalesce(task, note), 1 - ({near}) FROM past_vectors"  # noqa: S608
            " WHERE weights = %(weights)s AND (workspace = ANY (%(places)s) OR %(all)s)"
            f" ORDER BY {near} LIMIT {_NEAREST}",
            {
                "wanted": _as_text(wanted),
                "weights": vectors.name,
                "places": [without_zeros(each) for each in workspaces],
                "all": not workspaces,
            },
        )
        # A text without a word has no direction.
        return {name: float(alike) for name, alike in rows if alike == alike}

    async def _ready(self) -> WordVectors | None:
        try:
            if self._home is None:
                self._home = await self._journal.read(_prepare)
            return await asyncio.to_thread(load_vectors) if self._home else None
        except (JournalError, psycopg.Error, VectorsUnavailable) as error:
            log.warning("Past work is searched by words only: %s", str(error).splitlines()[0])
            # What else went wrong may be over at the next search.
            if isinstance(error, VectorsUnavailable | psycopg.errors.InsufficientPrivilege):
                self._home = ""
            return None

    async def _ask(self, statement: str, values: Any) -> Sequence[Any]:
        try:
            return await self._journal.query(statement, values)
        except (JournalError, psycopg.Error) as error:
            log.warning("Past work is searched by words only, this time: %s", str(error).splitlines()[0])
            return ()


async def _prepare(connection: Any) -> str:
    """Make the table, where the extension is there or may be made; returns the extension's schema as SQL."""
    found = await (await connection.execute(_WHERE)).fetchone()
    if found is None:
        if await (await connection.execute(_OFFERED)).fetchone() is None:
            return ""
        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        found = await (await connection.execute(_WHERE)).fetchone()
    home = str(psycopg.sql.Identifier(found[0]).as_string(connection))
    await connection.execute(_TABLE.format(home=home))
    return home


def _embed_all(vectors: WordVectors, texts: Sequence[str]) -> list[str]:
    return [_as_text(vectors.embed(count_words(text[:_MAX_CHARACTERS]))) for text in texts]


def _as_text(vector: Array | None) -> str:
    numbers = [0.0] * SIZE if vector is None else vector.tolist()
    return f"[{','.join(f'{each:.5f}' for each in numbers)}]"
