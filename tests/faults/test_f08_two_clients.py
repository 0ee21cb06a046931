"""F8: two clients on one task: the same events in the same order, and only one of them approves."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.e2e.support import running_sidecar
from tests.waiting import SECONDS


def test_f08_both_see_the_same_order_and_one_approval_wins(tmp_path: Path) -> None:
    ask = {"calls": [{"tool": "run_command", "args": {"command": "echo one >> log.txt"}}]}
    with running_sidecar(tmp_path) as sidecar, ThreadPoolExecutor(4) as pool:
        models = sidecar.script("ask", [ask, {"text": "done"}])
        task_id = sidecar.execute("x", models=models, intent="run_command", agentType="terminal")

        def watch() -> list[tuple[int, str]]:
            with sidecar.stream(task_id) as events:
                return [(event["seq"], event["type"]) for event in events if "seq" in event]

        watchers = [pool.submit(watch) for _ in range(2)]
        approval = sidecar.wait_for_event(task_id, lambda event: event["type"] == "approval")
        url = f"/api/brain/tasks/{task_id}/approvals/{approval['approvalId']}"
        answers = list(pool.map(lambda _: sidecar.post(url, {"decision": "allow"}).status, range(2)))
        assert sorted(answers) == [200, 409]
        first, second = (watcher.result(SECONDS) for watcher in watchers)
        assert first == second
        assert (sidecar.workspace / "log.txt").read_text() == "one\n"
