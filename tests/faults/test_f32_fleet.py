"""F25, F32, F33: workers killed and paused, the leader gone, PostgreSQL and Redis stopped at once, all while tasks run.

Nothing is lost, nothing is done twice, no stream has a gap, and a paused worker that comes back writes nothing.
"""

import math
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest

from tests.e2e.support import ENDED, Json, RunningSidecar
from tests.faults.scale import FULL, scaled
from tests.faults.workload import check_effects, start_task
from tests.support.bus import published
from tests.support.fleet import RunningFleet, RunningWorker, running_fleet
from tests.support.servers import Postgres, Redis
from tests.waiting import wait_until

TASKS = scaled(6, 500)
WORKERS = 3
#: A worker is dead after 15 seconds.
TAKEOVER_SECONDS = 17.0
LONG = 240.0 if not FULL else 3_000.0


@pytest.fixture
def servers() -> Iterator[tuple[Postgres, Redis]]:
    """Of this test alone, because it stops them."""
    postgres, redis = Postgres(), Redis()
    yield postgres, redis
    redis.close()
    postgres.close()


class Follower(threading.Thread):
    """Follows a task to its end, and goes on behind the last event whenever the stream breaks."""

    def __init__(self, node: RunningSidecar, task_id: str) -> None:
        super().__init__(daemon=True)
        self._node = node
        self._task_id = task_id
        self.seqs: list[int] = []
        self.start()

    def run(self) -> None:
        wait_until(self._read_to_the_end, seconds=math.inf, pause=0.2)

    def _read_to_the_end(self) -> bool:
        try:
            with self._node.stream(self._task_id, self.seqs[-1] if self.seqs else 0) as events:
                self.seqs += [event["seq"] for event in events if "seq" in event]
            return self._node.task(self._task_id)["status"] in ENDED
        except (OSError, AssertionError, KeyError, ValueError):
            return False  # the node says that the database is away


class Chaos:
    """What is done to the fleet, and when each worker was lost with which tasks."""

    def __init__(self, fleet: RunningFleet, postgres: Postgres, redis: Redis) -> None:
        self._fleet = fleet
        self._postgres = postgres
        self._redis = redis
        self.done: Counter[str] = Counter()
        #: When a worker was lost, and a task that it held.
        self.lost: list[tuple[float, str]] = []

    def kill(self, worker: RunningWorker) -> None:
        self._lose(worker, worker.kill, "kill -9")
        self._fleet.workers.remove(worker)
        self._fleet.worker("--slots", "3")

    def pause(self, worker: RunningWorker) -> None:
        self._lose(worker, worker.pause, "SIGSTOP")

    def _lose(self, worker: RunningWorker, act: Callable[[], None], what: str) -> None:
        before = self._running(worker)
        began = time.time()
        act()
        self.done[what] += 1
        # What it still runs now, it ran when it was lost.
        self.lost += [(began, task) for task in before & self._running(worker)]

    def held(self, worker: RunningWorker) -> set[str]:
        return self._ids("SELECT id FROM brain.tasks WHERE lease_owner = %s", worker)

    def _running(self, worker: RunningWorker) -> set[str]:
        """One that was only claimed is freed without an event that says when."""
        return self._ids("SELECT id FROM brain.tasks WHERE lease_owner = %s AND status = 'running'", worker)

    def _ids(self, query: LiteralString, worker: RunningWorker) -> set[str]:
        with psycopg.connect(self._postgres.url) as connection:
            return {row[0] for row in connection.execute(query, (worker.id,)).fetchall()}

    def kill_leader(self) -> None:
        leader = self._fleet.nodes[1].get("/api/brain/fleet").json["leader"]
        for worker in [each for each in self._fleet.workers if each.id == leader]:
            self.kill(worker)
            self.done["leader"] += 1

    def stop_database(self) -> None:
        self._postgres.stop_at_once()
        self._postgres.start()
        self.done["PostgreSQL"] += 1

    def kill_redis(self) -> None:
        self._redis.kill()
        self._redis.start()
        self.done["Redis"] += 1

    def after(self, status: str) -> list[float]:
        """How long after its worker was lost each task had this status again, by the times of its events."""
        node, found = self._fleet.nodes[0], []
        for began, task in self.lost:
            events = [each for each in node.events(task) if each["type"] == "status" and each["status"] == status]
            times = [datetime.fromisoformat(event["at"]).timestamp() - began for event in events]
            found += [min(took for took in times if took > 0)] if any(took > 0 for took in times) else []
        return sorted(found)


def describe(took: list[float]) -> str:
    """How these sorted times are distributed."""
    shares = [f"{share} % {took[len(took) * share // 100]:.1f} s" for share in (10, 50, 90, 99)]
    late = sum(each > TAKEOVER_SECONDS for each in took)
    return f"{len(took)}: {', '.join(shares)}, longest {took[-1]:.1f} s, {late} over {TAKEOVER_SECONDS:g} s"


def unfinished(node: RunningSidecar) -> bool:
    return any(
        node.get(f"/api/brain/tasks?status={status}&limit=1").json["tasks"]
        for status in ("queued", "running", "interrupted")
    )


@pytest.mark.timeout(LONG)
def test_f32_f25_a_fleet_survives_everything_at_once(servers: tuple[Postgres, Redis], tmp_path: Path) -> None:
    postgres, redis = servers
    dice = random.Random(32)
    with running_fleet(tmp_path, postgres.url, BRAIN_REDIS_URL=redis.url) as fleet:
        nodes = [fleet.node(), fleet.node()]
        for _ in range(WORKERS):
            fleet.worker("--slots", "3")
        tasks = {start_task(nodes[0], tmp_path / f"w{number}"): tmp_path / f"w{number}" for number in range(TASKS)}
        followers = [Follower(nodes[number % 2], task_id) for number, task_id in enumerate(tasks)]
        chaos, rounds = Chaos(fleet, postgres, redis), 0
        while rounds == 0 or (FULL and unfinished(nodes[0])):
            zombie, victim, *_ = dice.sample(fleet.workers, 3)
            chaos.pause(zombie)
            chaos.kill(victim)
            faults = [chaos.kill_redis, chaos.stop_database]
            for fault in faults if rounds % 2 == 0 else dice.sample(faults, 1):
                fault()
            _wait_until_ready(nodes[0])
            chaos.kill_leader()
            _wait_for_takeover(chaos, nodes[0], zombie)
            zombie.go_on()
            rounds += 1
            _let_work(nodes[0])
        for task_id, workspace in tasks.items():
            task = nodes[0].wait_for_end(task_id, seconds=LONG)
            assert task["status"] == "completed", (task, nodes[0].events(task_id)[-3:])
            check_effects(workspace)
        for follower, task_id in zip(followers, tasks, strict=True):
            follower.join(60)
            count = nodes[0].task(task_id)["lastSeq"]
            assert follower.seqs == list(range(1, count + 1))
        expected = {(task_id, seq) for task_id in tasks for seq in range(1, nodes[0].task(task_id)["lastSeq"] + 1)}
        wait_until(lambda: set(published(redis)) >= expected, what="Redis to catch up")
        entries = published(redis)
        assert len(entries) == len(set(entries))
        for task_id in tasks:
            assert [seq for task, seq in entries if task == task_id] == sorted(s for t, s in expected if t == task_id)
        print(f"\n{len(tasks)} tasks, {dict(chaos.done)}")
        # To run again it also needs a free slot.
        for status in ("queued", "running"):
            if took := chaos.after(status):
                print(f"{status} again: {describe(took)}")


def _let_work(node: RunningSidecar) -> None:
    """Until a part of the tasks is done that was not done before, or nothing is left to do."""
    before = len(ended_tasks(node))
    wait_until(
        lambda: len(ended_tasks(node)) >= before + TASKS // 20 or not unfinished(node), seconds=LONG, what="work"
    )


def ended_tasks(node: RunningSidecar) -> list[Json]:
    found: list[Json] = []
    page: Json = {"nextBefore": ""}
    while page["nextBefore"] is not None:
        before = f"&before={page['nextBefore']}" if page["nextBefore"] else ""
        page = node.get(f"/api/brain/tasks?status=completed&limit=200{before}").json
        found += page["tasks"]
    return found


def _wait_until_ready(node: RunningSidecar) -> None:
    said: list[str] = []

    def is_ready() -> bool:
        answer = node.get("/ready")
        said.append(answer.body.decode())
        return answer.status == 200

    try:
        wait_until(is_ready, what="the database")
    except AssertionError as error:
        raise AssertionError(f"{said[-1]}\n{node.log_file.read_text()[-3_000:]}") from error


def _wait_for_takeover(chaos: Chaos, node: RunningSidecar, zombie: RunningWorker) -> None:
    """Until nobody counts on the paused worker any more; then it comes back."""
    wait_until(lambda: not chaos.held(zombie), seconds=120, what="others to take its tasks over")


def test_f32_a_worker_that_was_stopped_before_a_write_does_not_make_it(postgres: Postgres, tmp_path: Path) -> None:
    """Its intent record is durable, and it stops right before the file is written."""
    with running_fleet(tmp_path, postgres.new_database()) as fleet:
        node = fleet.node()
        zombie = fleet.worker(launcher=(sys.executable, "-m", "tests.faults.stopping"))
        call = {"tool": "write_file", "args": {"path": "hole.txt", "content": "x"}}
        models = node.script("hole", [{"text": "a", "calls": [call]}, {"text": "done"}])
        task_id = node.execute("work", models=models, approvals="auto", agentType="coder", intent="edit_code")
        wait_until(lambda: is_stopped(zombie.pid), what="the worker to stop")
        fleet.worker()
        assert node.wait_for_end(task_id)["status"] == "completed"
        hole = fleet.workspace / "hole.txt"
        assert hole.read_text() == "x"
        hole.unlink()
        zombie.go_on()
        wait_until(lambda: "Another worker claimed task" in zombie.log_file.read_text(), what="the zombie to notice")
        assert not hole.exists()


def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_f32_a_dead_workers_task_goes_on_elsewhere_and_the_zombie_writes_nothing(
    postgres: Postgres, tmp_path: Path
) -> None:
    with running_fleet(tmp_path, postgres.new_database()) as fleet:
        node, zombie = fleet.node(), fleet.worker()
        models = node.script(
            "slow",
            [
                {"text": "a", "calls": [{"tool": "write_file", "args": {"path": "a.txt", "content": "a\n"}}]},
                {"text": "b", "calls": [{"tool": "run_command", "args": {"command": "echo b >> b.txt; sleep 30"}}]},
                {"text": "c", "calls": [{"tool": "write_file", "args": {"path": "c.txt", "content": "c\n"}}]},
                {"text": "done"},
            ],
        )
        task_id = node.execute("work", models=models, approvals="auto", agentType="coder", intent="edit_code")
        wait_until(lambda: (fleet.workspace / "b.txt").exists(), what="the command to begin")
        zombie.pause()
        fleet.worker()
        task = node.wait_for_end(task_id)
        events = node.events(task_id)
        assert task["status"] == "completed"
        assert (fleet.workspace / "b.txt").read_text() == "b\n"
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        ended = [event for event in events if event["type"] == "tool" and event.get("tool") == "run_command"]
        assert ended[-1]["status"] == "unknown"
        zombie.go_on()
        said = "Another worker claimed task"
        wait_until(lambda: said in zombie.log_file.read_text(), what="the zombie to notice")
        assert node.events(task_id) == events
        assert zombie.stop(signal.SIGTERM) == 0
