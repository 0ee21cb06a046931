"""F25, F32, F33: workers killed and paused, the leader gone, PostgreSQL and Redis stopped at once, all while tasks run.

Nothing is lost, nothing is done twice, no stream has a gap, and a paused worker that comes back writes nothing.
"""

import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.support import ENDED, RunningSidecar, wait_until
from tests.faults.scale import FULL, scaled
from tests.faults.workload import check_effects, start_task
from tests.support.bus import published
from tests.support.fleet import RunningFleet, RunningWorker, running_fleet
from tests.support.servers import Postgres, Redis

TASKS = scaled(6, 500)
WORKERS = 3
#: A worker is dead after 15 seconds; the rest is for a busy machine.
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
        while True:
            try:
                with self._node.stream(self._task_id, self.seqs[-1] if self.seqs else 0) as events:
                    self.seqs += [event["seq"] for event in events if "seq" in event]
                if self._node.task(self._task_id)["status"] in ENDED:
                    return
            except (OSError, AssertionError, KeyError, ValueError):
                time.sleep(0.2)  # the node says that the database is away


def replace(fleet: RunningFleet, worker: RunningWorker) -> None:
    worker.kill()
    fleet.workers.remove(worker)
    fleet.worker("--slots", "3")


def is_any(node: RunningSidecar, status: str) -> bool:
    return bool(node.get(f"/api/brain/tasks?status={status}&limit=1").json["tasks"])


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
        rounds = scaled(1, 12)
        for number in range(rounds):
            wait_until(lambda: is_any(nodes[0], "running") or not is_any(nodes[0], "queued"), seconds=LONG, what="work")
            zombie, victim, *_ = dice.sample(fleet.workers, 3)
            zombie.pause()
            victim.kill()
            fleet.workers.remove(victim)
            redis.kill()
            postgres.stop_at_once()
            postgres.start()
            fleet.worker("--slots", "3")
            leader = nodes[1].get("/api/brain/fleet").json["leader"]
            for worker in [each for each in fleet.workers if each.id == leader and each is not zombie]:
                replace(fleet, worker)
            redis.start()
            _wait_for_takeover(nodes[0], zombie, tasks)
            zombie.go_on()
            if number < rounds - 1:
                time.sleep(dice.random() * 2)
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


def _wait_for_takeover(node: RunningSidecar, zombie: RunningWorker, tasks: dict[str, Path]) -> None:
    """Until nothing that the paused worker ran is still its own."""
    began = time.monotonic()
    state = node.get("/api/brain/fleet").json
    held = {task for each in state["workers"] if each["id"] == zombie.id for task in each["tasks"]} & set(tasks)

    def goes_on() -> bool:
        return all(
            sum(event["type"] == "status" and event["status"] == "running" for event in node.events(task)) > 1
            or node.task(task)["status"] in ENDED
            for task in held
        )

    wait_until(goes_on, seconds=120, what=f"others to continue {held}")
    print(f"takeover of {len(held)} tasks: {time.monotonic() - began:.1f} s (limit {TAKEOVER_SECONDS:g})")


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
