"""F26: many deliveries at once while tasks run: all are answered, none is lost, each issue is heard in order."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.e2e.doors import Doors, labeled
from tests.e2e.support import RunningSidecar, running_sidecar, wait_until
from tests.faults.scale import FULL

#: Issues with a task, comments on each, deliveries that ask for nothing, tasks at work meanwhile.
ISSUES, COMMENTS, OTHERS, TASKS = (20, 5, 880, 20) if FULL else (4, 3, 60, 5)


def test_f26_deliveries_at_once_while_tasks_run_are_all_kept_and_heard_in_order(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, BRAIN_MAX_TASKS=str(TASKS + 4)) as sidecar:
        busy = _busy_tasks(sidecar)
        config = Path(sidecar.environ["XDG_CONFIG_HOME"]) / "rainy-brain"
        config.mkdir(parents=True)
        places = f'[github.repositories]\n"acme/shop" = "{sidecar.workspace}"\n'
        (config / "doors.toml").write_text(f'[github]\nallow = ["alice"]\n{places}')
        doors = Doors(sidecar)
        doors.start()
        try:
            answered = _send(doors)
            total = ISSUES * (COMMENTS + 1) + OTHERS
            assert [status for status, _ in answered] == [202] * total
            print(f"{total} deliveries, longest answer {max(took for _, took in answered):.3f} s")
            assert doors.rows("SELECT count(*) FROM deliveries") == [(total,)]
            waiting = "SELECT count(*) FROM deliveries WHERE state = 'stored'"
            wait_until(lambda: doors.rows(waiting) == [(0,)], seconds=240, what="the deliveries")
            assert doors.rows("SELECT count(*) FROM deliveries WHERE state = 'dead'") == [(0,)]
            tasks = doors.rows("SELECT subject, task_id FROM subjects")
            assert len(tasks) == ISSUES
            for _, task_id in tasks:
                events = sidecar.events(task_id)
                said = [each["text"] for each in events if each["type"] == "message" and each["role"] == "user"]
                assert said[1:] == [f"@rainy-brain say {number}" for number in range(COMMENTS)]
        finally:
            doors.end()
        for task_id in busy:
            sidecar.post(f"/api/brain/tasks/{task_id}/cancel")


def _busy_tasks(sidecar: RunningSidecar) -> list[str]:
    models = sidecar.script("busy", [{"text": "done", "delayMs": 600_000}])
    started = [sidecar.execute(f"explain {number}", models=models, intent="chat") for number in range(TASKS)]
    for task_id in started:
        sidecar.wait_for_status(task_id, "running")
    return started


def _send(doors: Doors) -> list[tuple[int, float]]:
    """All at once, those of one issue one after the other, as GitHub does."""

    def post(event: str, payload: object, delivery: str) -> tuple[int, float]:
        began = time.monotonic()
        return doors.github(event, payload, delivery)[0], time.monotonic() - began

    def issue(number: int) -> list[tuple[int, float]]:
        answers = [post("issues", labeled(number), f"i-{number}")]
        for said in range(COMMENTS):
            comment = {**labeled(number), "action": "created", "comment": {"body": f"@rainy-brain say {said}"}}
            answers.append(post("issue_comment", comment, f"c-{number}-{said}"))
        return answers

    def other(number: int) -> list[tuple[int, float]]:
        payload = labeled(10_000 + number, label={"name": "other"})
        return [post("issues", payload, f"o-{number}")]

    jobs = [(issue, number) for number in range(ISSUES)] + [(other, number) for number in range(OTHERS)]
    with ThreadPoolExecutor(min(200, len(jobs))) as pool:
        return [each for answers in pool.map(lambda job: job[0](job[1]), jobs) for each in answers]
