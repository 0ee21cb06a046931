"""The migration that lets procrastinate dispatch tasks.

Each task that a worker may claim has a job that names it. The job is only a hint to look: the claim decides who runs
the task. Triggers defer the jobs, so a job commits or rolls back with its task, whichever process writes it.
"""

JOBS = """
DROP FUNCTION claim_task; -- Workers claim what their jobs name.

CREATE FUNCTION defer_task(task tasks, kept_place BOOLEAN) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM procrastinate_jobs WHERE queueing_lock = task.id AND status = 'todo') THEN RETURN; END IF;
    PERFORM procrastinate_defer_jobs_v1(ARRAY[ROW(
        -- A higher number comes first. A task that its worker lost comes before others of its priority.
        task.pool, 'run_task', kept_place::integer - 2 * task.priority,
        -- No `lock`: the claim is one, and `fetch_job` would compare it with those of all queued jobs.
        NULL, task.id, jsonb_build_object('task_id', task.id), NULL
    )::procrastinate_job_to_defer_v1]);
END $$;

CREATE FUNCTION defer_free_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM defer_task(NEW, TG_OP = 'UPDATE' AND NEW.queued = OLD.queued);
    RETURN NULL;
END $$;
CREATE TRIGGER task_created AFTER INSERT ON tasks FOR EACH ROW
    WHEN (NEW.lease_owner IS NULL AND NEW.status IN ('queued', 'cancelling')) EXECUTE FUNCTION defer_free_task();
CREATE TRIGGER task_freed AFTER UPDATE OF status, lease_owner ON tasks FOR EACH ROW
    WHEN (NEW.lease_owner IS NULL AND NEW.status IN ('queued', 'cancelling')
        AND (OLD.lease_owner IS NOT NULL OR OLD.status != NEW.status))
    EXECUTE FUNCTION defer_free_task();

-- Deletes the jobs of dead workers and defers a job for each free task without one; returns how many it deferred.
-- Such a task had its turn, or nearly: it comes before others of its priority.
CREATE FUNCTION repair_jobs(dead_seconds DOUBLE PRECISION) RETURNS INTEGER LANGUAGE plpgsql AS $$
DECLARE
    task tasks%ROWTYPE;
    made INTEGER := 0;
BEGIN
    DELETE FROM procrastinate_jobs WHERE status != 'todo' AND (status != 'doing' OR NOT EXISTS (
        SELECT FROM procrastinate_workers
        WHERE id = worker_id AND last_heartbeat > now() - make_interval(secs => dead_seconds)));
    FOR task IN SELECT * FROM tasks WHERE status IN ('queued', 'cancelling') AND lease_owner IS NULL
        -- Two conditions, so that each uses its index.
        AND NOT EXISTS (SELECT FROM procrastinate_jobs WHERE queueing_lock = tasks.id AND status = 'todo')
        AND NOT EXISTS (SELECT FROM procrastinate_jobs WHERE queueing_lock = tasks.id AND status = 'doing')
        ORDER BY priority, queued LIMIT 1000 FOR UPDATE SKIP LOCKED
    LOOP
        PERFORM defer_task(task, true);
        made := made + 1;
    END LOOP;
    RETURN made;
END $$;

-- The row of the worker's heartbeat in `procrastinate_workers`.
ALTER TABLE workers ADD COLUMN beat BIGINT;
CREATE FUNCTION beats(worker TEXT, dead_seconds DOUBLE PRECISION) RETURNS BOOLEAN LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM workers JOIN procrastinate_workers AS hearts ON hearts.id = beat
        WHERE workers.id = worker AND last_heartbeat > now() - make_interval(secs => dead_seconds))
$$;

CREATE FUNCTION free_task(named TEXT) RETURNS BIGINT LANGUAGE sql VOLATILE AS $$
    SELECT position FROM tasks
    WHERE id = named AND status IN ('queued', 'cancelling') AND lease_owner IS NULL FOR UPDATE
$$;
-- A task whose lease has expired and whose worker doesn't beat. A worker that beats has `patience` seconds more.
CREATE FUNCTION lost_task(
    moment DOUBLE PRECISION, dead_seconds DOUBLE PRECISION, patience DOUBLE PRECISION
) RETURNS BIGINT LANGUAGE sql VOLATILE AS $$
    SELECT position FROM tasks
    WHERE lease_owner IS NOT NULL AND lease_until < moment
        AND status IN ('queued', 'running', 'waiting', 'cancelling')
        AND (lease_until < moment - patience OR NOT beats(lease_owner, dead_seconds))
    ORDER BY priority, queued LIMIT 1 FOR UPDATE SKIP LOCKED
$$;
-- `place` comes from one of the two functions above, which lock the row.
CREATE FUNCTION claim_at(
    writer TEXT, write BIGINT, claimer TEXT, until DOUBLE PRECISION, place BIGINT
) RETURNS TEXT LANGUAGE plpgsql AS $$
DECLARE
    saved TEXT := known_outcome(writer, write);
    task tasks%ROWTYPE;
BEGIN
    IF saved IS NOT NULL THEN RETURN saved; END IF;
    IF place IS NULL THEN RETURN NULL; END IF;
    UPDATE tasks SET lease_owner = claimer, lease_until = until, fence = fence + 1 WHERE position = place
        RETURNING * INTO task;
    RETURN keep_outcome(writer, write, json_build_array(
        task.id, task.position, task.last_seq, task.records, task.fence, task.state, task.request)::text);
END $$;
"""

#: No pool can have this name.
SCHEDULE_QUEUE = "brain schedules"
#: The due moment of each schedule is a job, deferred in the transaction that writes the schedule's row. Only the leader
#: plans and takes them: a leader that was replaced changes nothing.
SCHEDULES = """
CREATE TABLE schedules (
    name TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    since DOUBLE PRECISION NOT NULL,
    -- When it starts a task; in the past if something keeps it waiting.
    due TIMESTAMPTZ NOT NULL
);
CREATE TABLE schedule_files (
    single BOOLEAN PRIMARY KEY DEFAULT true, pools TEXT NOT NULL, problems TEXT[] NOT NULL, place TEXT NOT NULL
);
INSERT INTO schedule_files VALUES (true, '', '{}', '');

CREATE FUNCTION leads(member TEXT) RETURNS BOOLEAN LANGUAGE sql VOLATILE AS $$
    SELECT leader IS NOT DISTINCT FROM member FROM leadership
$$;
CREATE FUNCTION plan_schedules(
    member TEXT, named TEXT[], texts TEXT[], sinces DOUBLE PRECISION[], dues TIMESTAMPTZ[], looks TIMESTAMPTZ[],
    pool_text TEXT, found_problems TEXT[], found_at TEXT
) RETURNS BOOLEAN LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7103, hashtext(current_schema()));
    IF NOT leads(member) THEN RETURN false; END IF;
    UPDATE schedule_files SET pools = pool_text, problems = found_problems, place = found_at;
    DELETE FROM schedules WHERE name != ALL (named);
    INSERT INTO schedules SELECT * FROM unnest(named, texts, sinces, dues)
    ON CONFLICT (name) DO UPDATE SET text = excluded.text, since = excluded.since, due = excluded.due;
    -- Those that were taken have ended.
    DELETE FROM procrastinate_jobs WHERE queue_name = 'brain schedules' AND (status != 'todo' OR NOT EXISTS (
        SELECT FROM unnest(named, looks) AS planned (name, look)
        WHERE queueing_lock = 'schedule.' || name AND scheduled_at = look));
    PERFORM procrastinate_defer_jobs_v1(ARRAY(
        SELECT ROW(
            'brain schedules', 'start_schedule', 0, NULL, 'schedule.' || name, jsonb_build_object('schedule', name),
            look
        )::procrastinate_job_to_defer_v1
        FROM unnest(named, looks) AS planned (name, look)
        WHERE NOT EXISTS (
            SELECT FROM procrastinate_jobs WHERE queueing_lock = 'schedule.' || name AND status = 'todo')));
    RETURN true;
END $$;
CREATE FUNCTION take_schedules(member TEXT) RETURNS TEXT[] LANGUAGE plpgsql AS $$
DECLARE
    job procrastinate_jobs;
    names TEXT[] := '{}';
BEGIN
    WHILE leads(member) AND cardinality(names) < 1000 LOOP
        job := procrastinate_fetch_job_v2(ARRAY['brain schedules'], (SELECT beat FROM workers WHERE id = member));
        EXIT WHEN job.id IS NULL;
        names := names || coalesce(job.args ->> 'schedule', '');
    END LOOP;
    RETURN names;
END $$;

-- The end of a task that a schedule started may let another one start that waits.
CREATE FUNCTION wake_schedules() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE procrastinate_jobs SET scheduled_at = NULL WHERE queue_name = 'brain schedules' AND status = 'todo'
        AND queueing_lock IN (SELECT 'schedule.' || name FROM schedules WHERE due <= now());
    RETURN NULL;
END $$;
CREATE TRIGGER task_ended AFTER UPDATE OF status ON tasks FOR EACH ROW
    WHEN (NEW.conversation LIKE 'schedule.%' AND OLD.status != NEW.status
        AND NEW.status IN ('completed', 'failed', 'cancelled', 'escalated'))
    EXECUTE FUNCTION wake_schedules();

-- The queues of tasks that have jobs; each is one look at the index.
CREATE FUNCTION task_queues() RETURNS VARCHAR[] LANGUAGE sql VOLATILE AS $$
    WITH RECURSIVE queues (name) AS (
        SELECT min(queue_name::text) FROM procrastinate_jobs
        UNION ALL
        SELECT (SELECT min(queue_name::text) FROM procrastinate_jobs WHERE queue_name > name) FROM queues
        WHERE name IS NOT NULL
    ) SELECT coalesce(array_agg(name), '{}') FROM queues WHERE name != 'brain schedules'
$$;
"""

#: The claim of a task ends the job that named it. Jobs that are gone after milliseconds need no history.
FEWER_WRITES = """
CREATE OR REPLACE FUNCTION claim_at(
    writer TEXT, write BIGINT, claimer TEXT, until DOUBLE PRECISION, place BIGINT
) RETURNS TEXT LANGUAGE plpgsql AS $$
DECLARE
    saved TEXT := known_outcome(writer, write);
    task tasks%ROWTYPE;
BEGIN
    IF saved IS NOT NULL THEN RETURN saved; END IF;
    IF place IS NULL THEN RETURN NULL; END IF;
    UPDATE tasks SET lease_owner = claimer, lease_until = until, fence = fence + 1 WHERE position = place
        RETURNING * INTO task;
    -- The last condition lets it use the index of jobs at work.
    DELETE FROM procrastinate_jobs WHERE queueing_lock = task.id AND status = 'doing' AND worker_id IS NOT NULL;
    RETURN keep_outcome(writer, write, json_build_array(
        task.id, task.position, task.last_seq, task.records, task.fence, task.state, task.request)::text);
END $$;
DROP TRIGGER procrastinate_trigger_status_events_insert_v1 ON procrastinate_jobs;
DROP TRIGGER procrastinate_trigger_status_events_update_v1 ON procrastinate_jobs;
DROP TRIGGER procrastinate_trigger_scheduled_events_v1 ON procrastinate_jobs;
"""
