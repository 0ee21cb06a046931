"""The migrations of the database, append-only.

Each write is one call of a function here, and so one transaction that the server finishes by itself: a worker that
stops in the middle holds no lock. A write repeats under the same number after a lost connection; `writers` keeps its
outcome, so it is done once.
"""

from typing import TYPE_CHECKING, Any

from sidecar.journal.errors import JournalTooNew
from sidecar.journal.postgres.jobs import FEWER_WRITES, JOBS, SCHEDULES

if TYPE_CHECKING:
    from psycopg import AsyncConnection

_TABLES = """
CREATE SEQUENCE cursors;
CREATE SEQUENCE queue_positions;
CREATE TABLE tasks (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    conversation TEXT NOT NULL,
    idempotency_key TEXT UNIQUE,
    priority SMALLINT NOT NULL,
    pool TEXT NOT NULL,
    request TEXT NOT NULL,
    status TEXT NOT NULL,
    state TEXT NOT NULL,
    queued BIGINT NOT NULL DEFAULT nextval('queue_positions'),
    workspace TEXT NOT NULL,
    pinned BOOLEAN NOT NULL DEFAULT false,
    archived BOOLEAN NOT NULL DEFAULT false,
    last_seq BIGINT NOT NULL DEFAULT 0,
    records INTEGER NOT NULL DEFAULT 0,
    size BIGINT NOT NULL DEFAULT 0,
    fence BIGINT NOT NULL DEFAULT 0,
    lease_owner TEXT,
    lease_until DOUBLE PRECISION
) WITH (fillfactor = 70);
CREATE INDEX tasks_free ON tasks (priority, queued) WHERE lease_owner IS NULL AND status IN ('queued', 'cancelling');
CREATE INDEX tasks_leased ON tasks (lease_owner) WHERE lease_owner IS NOT NULL;
CREATE INDEX tasks_status ON tasks (status, position);
CREATE INDEX tasks_conversation ON tasks (conversation, position);
CREATE INDEX tasks_workspace ON tasks (workspace, position);
CREATE TABLE events (
    task BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    at TEXT NOT NULL,
    body TEXT NOT NULL,
    -- What a search finds, in plain words.
    words TEXT,
    cursor BIGINT NOT NULL UNIQUE,
    PRIMARY KEY (task, seq)
);
CREATE TABLE records (
    task BIGINT NOT NULL,
    kind TEXT NOT NULL,
    key BYTEA NOT NULL,
    number INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    body BYTEA NOT NULL
);
-- A key may be longer than an index entry.
CREATE UNIQUE INDEX records_key ON records (task, kind, sha256(key));
CREATE INDEX records_undo ON records (task) WHERE kind = 'undo';
CREATE TABLE blobs (
    digest TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    data BYTEA NOT NULL,
    base TEXT,
    depth INTEGER NOT NULL
);
CREATE TABLE blob_uses (task BIGINT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (task, digest));
CREATE INDEX blob_uses_digest ON blob_uses (digest);
-- The newest cursor that was pruned.
CREATE TABLE pruning (pruned BIGINT NOT NULL);
INSERT INTO pruning VALUES (0);
-- The last write of each process, and its outcome.
CREATE TABLE writers (id TEXT PRIMARY KEY, number BIGINT NOT NULL, outcome TEXT, at TIMESTAMPTZ NOT NULL DEFAULT now());
-- Without this extension a search reads all words.
DO $$ BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;
    CREATE INDEX events_words ON events USING gin (words public.gin_trgm_ops) WHERE words IS NOT NULL;
EXCEPTION WHEN OTHERS THEN NULL;
END $$;
"""

_CURSORS = """
-- Events of several writers commit in another order than they get their cursors. While a writer is at work, it holds a
-- shared lock that is named after the newest cursor before its own; readers stop at the lowest of those.
CREATE FUNCTION lock_space() RETURNS BIGINT LANGUAGE sql STABLE AS $$
    SELECT (hashtext(current_schema()) & 524287)::bigint << 44
$$;
CREATE FUNCTION newest_cursor() RETURNS BIGINT LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM cursors
$$;
CREATE FUNCTION begin_cursors() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(lock_space() + newest_cursor());
END $$;
CREATE FUNCTION settled_cursor(OUT newest BIGINT, OUT settled BIGINT) LANGUAGE plpgsql AS $$
DECLARE
    space BIGINT := lock_space() >> 44;
BEGIN
    newest := newest_cursor();
    SELECT least(newest, min(((classid::bigint << 32) | objid::bigint) & ((1::bigint << 44) - 1))) INTO settled
    FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ShareLock'
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND ((classid::bigint << 32) | objid::bigint) >> 44 = space;
END $$;
-- Shared by those who store contents, exclusive for who removes unused ones. The highest cursor names it.
CREATE FUNCTION contents_lock() RETURNS BIGINT LANGUAGE sql STABLE AS $$
    SELECT lock_space() + (1::bigint << 44) - 1
$$;
"""

_WRITING = """
CREATE FUNCTION known_outcome(writer TEXT, write BIGINT) RETURNS TEXT LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- The server may still be at the write whose answer was lost: wait for it.
    PERFORM pg_advisory_xact_lock(7102, hashtext(current_schema() || writer));
    RETURN (SELECT outcome FROM writers WHERE id = writer AND number >= write);
END $$;
CREATE FUNCTION keep_outcome(writer TEXT, write BIGINT, result TEXT) RETURNS TEXT LANGUAGE sql VOLATILE AS $$
    INSERT INTO writers (id, number, outcome) VALUES (writer, write, result)
    ON CONFLICT (id) DO UPDATE SET number = excluded.number, outcome = excluded.outcome, at = now()
    RETURNING outcome
$$;
CREATE FUNCTION insert_rows(
    place BIGINT, last BIGINT, count INTEGER,
    ats TEXT[], bodies TEXT[], texts TEXT[],
    kinds TEXT[], keys BYTEA[], seqs BIGINT[], record_bodies BYTEA[]
) RETURNS BIGINT[] LANGUAGE plpgsql AS $$
DECLARE
    given BIGINT[];
BEGIN
    WITH written AS (
        INSERT INTO events (task, seq, at, body, words, cursor)
        SELECT place, last + row.number, row.at, row.body, row.words, nextval('cursors')
        FROM unnest(ats, bodies, texts) WITH ORDINALITY AS row (at, body, words, number)
        RETURNING cursor
    ) SELECT coalesce(array_agg(cursor ORDER BY cursor), '{}') INTO given FROM written;
    INSERT INTO records (task, kind, key, number, seq, body)
    SELECT place, row.kind, row.key, count + row.number - 1, row.seq, row.body
    FROM unnest(kinds, keys, seqs, record_bodies) WITH ORDINALITY AS row (kind, key, seq, body, number);
    RETURN given;
END $$;
CREATE FUNCTION create_task(
    writer TEXT, write BIGINT, new_id TEXT, idempotency TEXT, max_queued INTEGER, created TEXT, talk TEXT,
    rank SMALLINT, to_pool TEXT, request_text TEXT, new_status TEXT, new_state TEXT, place TEXT, is_pinned BOOLEAN,
    is_archived BOOLEAN, bytes BIGINT, ats TEXT[], bodies TEXT[], texts TEXT[],
    kinds TEXT[], keys BYTEA[], seqs BIGINT[], record_bodies BYTEA[]
) RETURNS TEXT LANGUAGE plpgsql AS $$
DECLARE
    saved TEXT := known_outcome(writer, write);
    made BIGINT;
    given BIGINT[];
BEGIN
    IF saved IS NOT NULL THEN RETURN saved; END IF;
    SELECT id INTO saved FROM tasks WHERE idempotency_key = idempotency;
    IF FOUND THEN RETURN json_build_array('known', saved); END IF;
    IF max_queued IS NOT NULL
        AND (SELECT count(*) FROM tasks WHERE status = 'queued') >= max_queued
    THEN RETURN json_build_array('full'); END IF;
    PERFORM begin_cursors();
    INSERT INTO tasks (
        id, created_at, conversation, idempotency_key, priority, pool, request, status, state, workspace, pinned,
        archived, last_seq, records, size
    ) VALUES (
        new_id, created, talk, idempotency, rank, to_pool, request_text, new_status, new_state, place, is_pinned,
        is_archived, cardinality(bodies), cardinality(kinds), bytes
    ) ON CONFLICT (idempotency_key) DO NOTHING RETURNING position INTO made;
    IF made IS NULL THEN
        RETURN json_build_array('known', (SELECT id FROM tasks WHERE idempotency_key = idempotency));
    END IF;
    given := insert_rows(made, 0, 0, ats, bodies, texts, kinds, keys, seqs, record_bodies);
    RETURN keep_outcome(writer, write, json_build_array('new', made, given)::text);
END $$;
CREATE FUNCTION append_all(
    writer TEXT, write BIGINT, ids TEXT[], last_seqs BIGINT[], counts INTEGER[], fences BIGINT[],
    statuses TEXT[], states TEXT[], pins BOOLEAN[], archives BOOLEAN[], sizes BIGINT[], queues BOOLEAN[],
    unclaims BOOLEAN[], event_counts INTEGER[], ats TEXT[], bodies TEXT[], texts TEXT[],
    record_counts INTEGER[], kinds TEXT[], keys BYTEA[], seqs BIGINT[], record_bodies BYTEA[]
) RETURNS TEXT LANGUAGE plpgsql AS $$
DECLARE
    saved TEXT := known_outcome(writer, write);
    task tasks%ROWTYPE;
    outcomes JSON[] := '{}';
    given BIGINT[];
    e INTEGER := 1;
    e_end INTEGER;
    r INTEGER := 1;
    r_end INTEGER;
BEGIN
    IF saved IS NOT NULL THEN RETURN saved; END IF;
    -- All lock in the same order, so there is no deadlock.
    PERFORM 1 FROM tasks WHERE id = ANY (ids) ORDER BY id FOR UPDATE;
    PERFORM begin_cursors();
    FOR i IN 1 .. cardinality(ids) LOOP
        e_end := e + event_counts[i] - 1;
        r_end := r + record_counts[i] - 1;
        SELECT * INTO task FROM tasks WHERE id = ids[i];
        IF NOT FOUND THEN
            outcomes := outcomes || json_build_array('unknown');
        ELSIF (task.last_seq, task.records, task.fence) IS DISTINCT FROM (last_seqs[i], counts[i], fences[i]) THEN
            outcomes := outcomes || json_build_array(
                'stale', task.position, task.last_seq, task.records, task.fence, task.state);
        ELSIF record_counts[i] > 0 AND EXISTS (
            SELECT FROM unnest(kinds[r : r_end], keys[r : r_end]) AS new (kind, key)
            JOIN records AS old
            ON old.task = task.position AND old.kind = new.kind AND sha256(old.key) = sha256(new.key)
        ) THEN
            outcomes := outcomes || json_build_array('duplicate');
        ELSE
            given := insert_rows(
                task.position, task.last_seq, task.records,
                ats[e : e_end], bodies[e : e_end], texts[e : e_end],
                kinds[r : r_end], keys[r : r_end], seqs[r : r_end], record_bodies[r : r_end]);
            UPDATE tasks SET
                last_seq = last_seq + event_counts[i], records = tasks.records + record_counts[i],
                size = size + sizes[i], status = statuses[i], state = states[i],
                pinned = pins[i], archived = archives[i],
                queued = CASE WHEN queues[i] THEN nextval('queue_positions') ELSE queued END,
                lease_owner = CASE WHEN unclaims[i] THEN NULL ELSE lease_owner END,
                lease_until = CASE WHEN unclaims[i] THEN NULL ELSE lease_until END
            WHERE position = task.position;
            outcomes := outcomes || json_build_array('written', given);
        END IF;
        e := e_end + 1;
        r := r_end + 1;
    END LOOP;
    RETURN keep_outcome(writer, write, array_to_json(outcomes)::text);
END $$;
"""

_CLAIMING = """
CREATE FUNCTION claim_task(
    writer TEXT, write BIGINT, owner TEXT, moment DOUBLE PRECISION, until DOUBLE PRECISION, pools TEXT[],
    which TEXT -- 'free', 'expired' or 'any'
) RETURNS TEXT LANGUAGE plpgsql AS $$
DECLARE
    saved TEXT := known_outcome(writer, write);
    free BIGINT;
    task tasks%ROWTYPE;
BEGIN
    IF saved IS NOT NULL THEN RETURN saved; END IF;
    IF which != 'expired' THEN
        SELECT position INTO free FROM tasks
            WHERE status IN ('queued', 'cancelling') AND lease_owner IS NULL AND (pools IS NULL OR pool = ANY (pools))
            ORDER BY priority, queued LIMIT 1 FOR UPDATE SKIP LOCKED;
    END IF;
    IF free IS NULL AND which != 'free' THEN
        SELECT position INTO free FROM tasks
            WHERE lease_owner IS NOT NULL AND lease_until < moment
            AND status IN ('queued', 'running', 'waiting', 'cancelling') AND (pools IS NULL OR pool = ANY (pools))
            ORDER BY priority, queued LIMIT 1 FOR UPDATE SKIP LOCKED;
    END IF;
    IF free IS NULL THEN RETURN NULL; END IF;
    UPDATE tasks SET lease_owner = owner, lease_until = until, fence = fence + 1 WHERE position = free
        RETURNING * INTO task;
    RETURN keep_outcome(writer, write, json_build_array(
        task.id, task.position, task.last_seq, task.records, task.fence, task.state, task.request,
        -- Two questions, so that each has its index.
        (which != 'expired' AND EXISTS (
            SELECT FROM tasks WHERE status IN ('queued', 'cancelling') AND lease_owner IS NULL
                AND (pools IS NULL OR pool = ANY (pools))
        )) OR (which != 'free' AND EXISTS (
            SELECT FROM tasks WHERE lease_owner IS NOT NULL AND lease_until < moment
                AND status IN ('queued', 'running', 'waiting', 'cancelling') AND (pools IS NULL OR pool = ANY (pools))
        ))
    )::text);
END $$;
"""

_CONTENTS = """
CREATE FUNCTION put_content(
    task_id TEXT, name TEXT, bytes INTEGER, packed BYTEA, base_name TEXT, packed_depth INTEGER, cap BIGINT
) RETURNS TEXT LANGUAGE plpgsql AS $$
DECLARE
    place BIGINT;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(contents_lock());
    SELECT position INTO place FROM tasks WHERE id = task_id;
    IF NOT FOUND THEN RETURN 'unknown'; END IF;
    IF cap IS NOT NULL AND (
        SELECT coalesce(sum(length(data)), 0) FROM blob_uses JOIN blobs USING (digest) WHERE task = place
    ) >= cap THEN RETURN 'full'; END IF;
    IF NOT EXISTS (SELECT FROM blobs WHERE digest = name) THEN
        IF packed IS NULL THEN RETURN 'missing'; END IF;
        IF base_name IS NOT NULL AND NOT EXISTS (SELECT FROM blobs WHERE digest = base_name) THEN RETURN 'base'; END IF;
        INSERT INTO blobs VALUES (name, bytes, packed, base_name, packed_depth) ON CONFLICT (digest) DO NOTHING;
    END IF;
    INSERT INTO blob_uses VALUES (place, name) ON CONFLICT DO NOTHING;
    RETURN 'kept';
END $$;
CREATE FUNCTION sweep_contents() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(contents_lock());
    WITH RECURSIVE kept (digest) AS (
        SELECT digest FROM blob_uses
        UNION SELECT base FROM blobs JOIN kept USING (digest) WHERE base IS NOT NULL
    ) DELETE FROM blobs WHERE digest NOT IN (SELECT digest FROM kept);
END $$;
CREATE FUNCTION journal_size() RETURNS BIGINT LANGUAGE sql VOLATILE AS $$
    SELECT (SELECT coalesce(sum(size), 0) FROM tasks)::bigint
        + (SELECT coalesce(sum(length(data)), 0) FROM blobs)::bigint
$$;
CREATE FUNCTION drop_task(place BIGINT) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE pruning SET pruned = greatest(pruned, (SELECT max(cursor) FROM events WHERE task = place));
    DELETE FROM events WHERE task = place;
    DELETE FROM records WHERE task = place;
    DELETE FROM blob_uses WHERE task = place;
    DELETE FROM tasks WHERE position = place;
END $$;
CREATE FUNCTION delete_task(task_id TEXT) RETURNS TEXT LANGUAGE plpgsql AS $$
DECLARE
    task tasks%ROWTYPE;
BEGIN
    SELECT * INTO task FROM tasks WHERE id = task_id FOR UPDATE;
    IF NOT FOUND THEN RETURN 'unknown'; END IF;
    IF task.status NOT IN ('completed', 'failed', 'cancelled', 'escalated') THEN RETURN task.status; END IF;
    PERFORM drop_task(task.position);
    PERFORM sweep_contents();
    RETURN 'deleted';
END $$;
CREATE FUNCTION prune(cutoff TEXT, most BIGINT, OUT tasks_dropped INTEGER, OUT contents_dropped INTEGER)
LANGUAGE plpgsql AS $$
DECLARE
    task RECORD;
BEGIN
    tasks_dropped := 0;
    contents_dropped := 0;
    DELETE FROM writers WHERE at < now() - interval '1 day';
    PERFORM pg_advisory_xact_lock(contents_lock());
    FOR task IN SELECT position, created_at FROM tasks
        WHERE status IN ('completed', 'failed', 'cancelled', 'escalated') AND created_at < cutoff
        ORDER BY position LIMIT 20 FOR UPDATE SKIP LOCKED
    LOOP
        PERFORM drop_task(task.position);
        tasks_dropped := tasks_dropped + 1;
    END LOOP;
    IF tasks_dropped > 0 THEN PERFORM sweep_contents(); END IF;
    IF journal_size() <= most THEN RETURN; END IF;
    FOR task IN SELECT position FROM tasks WHERE status IN ('completed', 'failed', 'cancelled', 'escalated')
        AND position IN (SELECT blob_uses.task FROM blob_uses) ORDER BY position LIMIT 20 FOR UPDATE SKIP LOCKED
    LOOP
        DELETE FROM blob_uses WHERE blob_uses.task = task.position;
        contents_dropped := contents_dropped + 1;
        PERFORM sweep_contents();
        IF journal_size() <= most THEN RETURN; END IF;
    END LOOP;
    IF contents_dropped > 0 THEN RETURN; END IF;
    FOR task IN SELECT position FROM tasks WHERE status IN ('completed', 'failed', 'cancelled', 'escalated')
        ORDER BY position LIMIT 20 FOR UPDATE SKIP LOCKED
    LOOP
        PERFORM drop_task(task.position);
        tasks_dropped := tasks_dropped + 1;
        IF journal_size() <= most THEN RETURN; END IF;
    END LOOP;
END $$;
"""

_FLEET = """
-- Processes that run or serve tasks. `wanted` is what it shall do: drain or stop.
CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    pool TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    status TEXT NOT NULL,
    slots INTEGER NOT NULL,
    tasks TEXT[] NOT NULL,
    resources JSONB NOT NULL,
    wanted TEXT,
    last_seen TIMESTAMPTZ NOT NULL DEFAULT now()
);
-- Who leads, to be shown, and when it last did something. The advisory lock decides.
CREATE TABLE leadership (single BOOLEAN PRIMARY KEY DEFAULT true, leader TEXT, backend INTEGER, at TIMESTAMPTZ);
INSERT INTO leadership VALUES (true, NULL, NULL, now());
"""

_TOKENS = """
CREATE TABLE tokens (
    name TEXT PRIMARY KEY, role TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, at DOUBLE PRECISION NOT NULL
);
"""

_NOTES = """
CREATE TABLE notes (
    id TEXT PRIMARY KEY, workspace TEXT NOT NULL, kind TEXT NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL,
    state TEXT NOT NULL, task TEXT NOT NULL, at DOUBLE PRECISION NOT NULL
);
CREATE INDEX notes_workspace ON notes (workspace);
"""

TERM_CHARACTERS = 100
#: Full text without a configuration: the words are plain already. It replaces the index by parts of words.
_TERMS = """
CREATE FUNCTION terms_of(words TEXT) RETURNS TSVECTOR LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT array_to_tsvector(ARRAY(
        SELECT left(word, 100) FROM unnest(string_to_array(words, ' ')) AS word WHERE word != ''
    ))
$$;
DROP INDEX IF EXISTS events_words;
CREATE INDEX events_terms ON events USING gin (terms_of(words)) WHERE words IS NOT NULL;
"""

#: An index of a Git remote's code, in parts; `content` is a hash of the files that it holds.
_CODE_INDEXES = """
CREATE TABLE code_indexes (
    repository TEXT NOT NULL, version INTEGER NOT NULL, upload TEXT NOT NULL, content BYTEA NOT NULL,
    parts INTEGER NOT NULL, bytes BIGINT NOT NULL, at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (repository, version)
);
CREATE TABLE code_index_parts (
    upload TEXT NOT NULL, number INTEGER NOT NULL, data BYTEA NOT NULL, at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (upload, number)
);
ALTER TABLE code_index_parts ALTER COLUMN data SET STORAGE EXTERNAL; -- It is compressed already.
CREATE FUNCTION publish_code_index(
    remote TEXT, format INTEGER, uploaded TEXT, files BYTEA, count INTEGER, size BIGINT, most BIGINT
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    replaced TEXT;
BEGIN
    PERFORM pg_advisory_xact_lock(7104, hashtext(current_schema()));
    SELECT upload INTO replaced FROM code_indexes WHERE repository = remote AND version = format;
    INSERT INTO code_indexes VALUES (remote, format, uploaded, files, count, size)
    ON CONFLICT (repository, version) DO UPDATE SET
        upload = uploaded, content = files, parts = count, bytes = size, at = now();
    DELETE FROM code_indexes WHERE (repository, version) IN (
        SELECT repository, version FROM (
            SELECT repository, version, sum(bytes) OVER (ORDER BY at DESC, repository, version) AS total
            FROM code_indexes
        ) AS newest WHERE total > most);
    DELETE FROM code_index_parts WHERE upload = replaced
        -- Those of an upload that goes on are younger.
        OR (at < now() - interval '1 hour' AND upload NOT IN (SELECT upload FROM code_indexes));
END $$;
"""

#: Each is one migration.
MIGRATIONS: tuple[str, ...] = (
    _TABLES + _CURSORS + _WRITING + _CLAIMING + _CONTENTS,
    _FLEET,
    _TOKENS,
    _NOTES,
    _TERMS,
    JOBS,
    SCHEDULES,
    _CODE_INDEXES,
    FEWER_WRITES,
)


def _statements(migration: str) -> str:
    if migration is not JOBS:
        return migration
    from procrastinate.schema import SchemaManager

    # `pyproject.toml` pins the version: a newer one needs a migration here.
    return SchemaManager.get_schema() + JOBS


async def migrate(connection: "AsyncConnection[Any]", schema: str) -> None:
    """Create or extend the tables; several processes may start at once."""
    from psycopg import sql

    name = sql.Identifier(schema)
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (f"brain {schema}",))
        await connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
        await connection.execute("CREATE TABLE IF NOT EXISTS migrations (version INTEGER NOT NULL)")
        row = await (await connection.execute("SELECT coalesce(max(version), 0) FROM migrations")).fetchone()
        version: int = row[0] if row else 0
        if version > len(MIGRATIONS):
            raise JournalTooNew(
                f"The journal in the database has format {version}; this version of Rainy Brain knows formats up to "
                f"{len(MIGRATIONS)}. Nothing was changed. Start the newer version again."
            )
        for number, migration in enumerate(MIGRATIONS[version:], start=version + 1):
            await connection.execute(sql.SQL(_statements(migration)))
            await connection.execute("INSERT INTO migrations VALUES (%s)", (number,))
