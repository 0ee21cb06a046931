"""F26: many deliveries at once while tasks run: all are answered, none is lost, each issue is heard in order."""

from pathlib import Path

from tests.e2e.doors import Doors, Sent, labeled, request_of, send_at_once, signed
from tests.e2e.support import RunningSidecar, running_sidecar
from tests.faults.scale import FULL
from tests.waiting import wait_until

#: Issues with a task, comments on each, deliveries that ask for nothing, tasks at work meanwhile.
ISSUES, COMMENTS, OTHERS, TASKS = (20, 5, 880, 20) if FULL else (4, 3, 60, 5)


def test_f26_deliveries_at_once_while_tasks_run_are_all_kept_and_heard_in_order(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, BRAIN_MAX_TASKS=str(TASKS + 4)) as sidecar:
        busy = _busy_tasks(sidecar)
        config = Path(sidecar.environ["XDG_CONFIG_HOME"]) / "rainy-brain"
        config.mkdir(parents=True, exist_ok=True)
        places = f'[github.repositories]\n"acme/shop" = "{sidecar.workspace}"\n'
        (config / "doors.toml").write_text(f'[github]\nallow = ["alice"]\n{places}')
        doors = Doors(sidecar)
        doors.start()
        try:
            answered = _send(doors)
            total = ISSUES * (COMMENTS + 1) + OTHERS
            assert [each.status for each in answered] == [202] * total
            print(f"{total} deliveries, longest answer {max(each.seconds for each in answered):.3f} s")
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


def _send(doors: Doors) -> list[Sent]:
    """All at once, those of one issue one after the other, as GitHub does."""

    def request(event: str, payload: object, delivery: str) -> bytes:
        return request_of("github", *signed(event, payload, delivery))

    def issue(number: int) -> list[bytes]:
        requests = [request("issues", labeled(number), f"i-{number}")]
        for said in range(COMMENTS):
            comment = {**labeled(number), "action": "created", "comment": {"body": f"@rainy-brain say {said}"}}
            requests.append(request("issue_comment", comment, f"c-{number}-{said}"))
        return requests

    def other(number: int) -> list[bytes]:
        return [request("issues", labeled(10_000 + number, label={"name": "other"}), f"o-{number}")]

    return send_at_once(doors.address, [*map(issue, range(ISSUES)), *map(other, range(OTHERS))])
