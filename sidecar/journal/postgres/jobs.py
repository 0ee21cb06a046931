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
