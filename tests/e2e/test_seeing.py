"""What goes on in the real process: correlated logs, metrics that survive it, traces, readiness, statistics."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.bridge import raw_shell
from tests.e2e.doors import Doors, labeled, signed
from tests.e2e.support import Json, RunningSidecar, running_sidecar
from tests.e2e.terminal import brain
from tests.waiting import wait_until

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
HEADERS = {"traceparent": f"00-{TRACE}-{SPAN}-01"}
USED = {"inputTokens": 1_000, "outputTokens": 10, "cachedTokens": 100, "costUsd": 0.5}
CANARY = "the-canary-that-nobody-may-see"


@pytest.fixture
def seen(tmp_path: Path) -> Iterator[RunningSidecar]:
    with running_sidecar(tmp_path, BRAIN_LOG_FORMAT="json") as running:
        yield running


def execute(sidecar: RunningSidecar, task: str, **options: object) -> str:
    body = {"task": task, "options": options}
    answer = sidecar.post("/api/brain/execute", body, headers=HEADERS)
    assert answer.status == 202 and answer.headers["x-request-id"] == TRACE
    task_id: str = answer.json["taskId"]
    return task_id


def metrics(sidecar: RunningSidecar) -> dict[str, float]:
    answer = sidecar.get("/metrics")
    assert answer.status == 200 and answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        f"{sample.name}{json.dumps(sample.labels, sort_keys=True)}": sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
    }


def lines(sidecar: RunningSidecar) -> list[Json]:
    return [json.loads(line) for line in sidecar.log_file.read_text().splitlines()]


def test_one_id_leads_from_the_request_through_the_task_to_the_shell(seen: RunningSidecar) -> None:
    reply = {"calls": [{"tool": "run_command", "args": {"command": f"echo {CANARY}"}}]}
    models = seen.script("echo", [reply, {"text": CANARY, "usage": USED}])
    with raw_shell(seen) as shell:
        shell.hello("run_command")
        task_id = execute(seen, "say it", models=models, approvals="auto", intent="run_command")
        call = shell.next("tool_call")
        assert call["traceparent"].split("-")[1] == TRACE
        shell.result(call["id"], "said")
        seen.wait_for_end(task_id)
    assert seen.task(task_id)["traceparent"] == HEADERS["traceparent"]
    own = [line for line in lines(seen) if line.get("task") == task_id]
    assert {line["request"] for line in own} == {TRACE}
    (tool,) = [line for line in own if line["message"] == "tool call"]
    assert tool["tool"] == "run_command" and tool["durationMs"] > 0 and tool["agent"] and tool["step"] == 1
    (asked,) = [line for line in own if line["message"] == "model request"]
    assert asked["tokens"] == {"input": 1_000, "output": 10, "cached": 100} and asked["model"] == "scripted/echo"
    requests = [line for line in lines(seen) if line["message"] == "POST request"]
    assert [line["path"] for line in requests if line["request"] == TRACE] == ["/api/brain/execute"]
    assert CANARY not in seen.log_file.read_text()


def test_metrics_survive_a_kill_and_count_nothing_twice(seen: RunningSidecar) -> None:
    before = metrics(seen)
    assert before['brain_tasks_ended_total{"status": "completed"}'] == 0
    models = seen.script("count", [{"calls": [{"tool": "list_dir", "args": {}}], "usage": USED}, {"text": "done"}])
    seen.wait_for_end(execute(seen, "look", models=models, intent="explain_code"))
    wanted = {
        'brain_tasks_ended_total{"status": "completed"}': 1,
        'brain_tool_calls_total{"status": "success", "tool": "list_dir"}': 1,
        'brain_tokens_total{"direction": "input", "model": "scripted/count"}': 1_000,
        'brain_estimated_cost_usd_total{"model": "scripted/count"}': 0.5,
        'brain_task_duration_seconds_count{"status": "completed"}': 1,
        'brain_queue_depth{"pool": "default"}': 0,
        'brain_workers{"pool": "*", "status": "running"}': 1,
        'brain_workers{"pool": "*", "status": "dead"}': 0,
        'brain_door_deliveries_total{"door": "github", "state": "received"}': 0,
    }
    for life in range(3):
        found = metrics(seen)
        assert {name: found[name] for name in wanted} == wanted, life
        seen.kill() if life else seen.stop()
        seen.restart()


def test_deliveries_at_the_doors_are_counted(seen: RunningSidecar) -> None:
    doors = Doors(seen)
    doors.start()
    try:
        for _ in range(2):
            doors.github("issues", labeled(1), "one")
        doors.github("ping", {"zen": "x"}, "two")
        body, headers = signed("ping", {"zen": "y"}, "three")
        doors.post("github", body, **headers, **HEADERS)
        doors.wait_until_worked_on()
        found = metrics(seen)
    finally:
        doors.end()
    assert found['brain_door_deliveries_total{"door": "github", "state": "received"}'] == 3
    assert found['brain_door_deliveries_total{"door": "github", "state": "ignored"}'] == 3
    logged = [json.loads(line) for line in doors.log_file.read_text().splitlines()]
    told = [line for line in logged if line["message"] == "delivery"]
    assert sorted(line["event"] for line in told) == ["issues", "ping", "ping"]
    assert all(line["door"] == "github" and line["durationMs"] > 0 and line["delivery"] for line in told)
    assert [line["event"] for line in told if line["request"] == TRACE] == ["ping"]


def test_ready_fails_when_the_journal_is_gone_and_health_does_not(seen: RunningSidecar) -> None:
    assert seen.get("/ready", authenticated=False).status == 200
    (journal,) = seen.data_dir.glob("journal*.db")
    journal.rename(journal.with_suffix(".moved"))
    answer = seen.get("/ready", authenticated=False)
    assert answer.status == 503 and answer.json["code"] == "not_ready" and "journal" in answer.json["detail"]
    assert seen.get("/health", authenticated=False).status == 200
    journal.with_suffix(".moved").rename(journal)
    assert seen.get("/ready", authenticated=False).status == 200


class Collector(http.server.BaseHTTPRequestHandler):
    received: list[bytes]
    status = 200

    def do_POST(self) -> None:
        assert self.path == "/v1/traces" and self.headers["Content-Type"] == "application/json"
        self.received.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def collector(status: int = 200) -> Iterator[tuple[str, list[bytes]]]:
    received: list[bytes] = []
    handler = type("Handler", (Collector,), {"received": received, "status": status})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def names(document: bytes) -> list[str]:
    request = Parse(document, ExportTraceServiceRequest())
    return [span.name for span in request.resource_spans[0].scope_spans[0].spans]


def test_a_trace_is_written_and_sent_without_what_was_said(tmp_path: Path) -> None:
    with collector() as (url, received), running_sidecar(tmp_path, BRAIN_TRACE_ENDPOINT=url) as sidecar:
        read = {"tool": "search_code", "args": {"query": CANARY}}
        models = sidecar.script("read", [{"calls": [read], "usage": USED}, {"text": CANARY, "usage": USED}])
        task_id = execute(sidecar, f"look for {CANARY}", models=models, intent="explain_code")
        sidecar.wait_for_end(task_id)
        wait_until(lambda: received, what="the trace")
        place = ("--data-dir", str(sidecar.data_dir))
        printed = brain("trace", task_id, *place, environ=sidecar.environ)
        assert names(printed.stdout.encode()) == names(received[0])
        wanted = ["task", "invoke_agent coder", "chat read", "execute_tool search_code", "chat read"]
        assert names(received[0]) == wanted
        assert CANARY not in printed.stdout and CANARY.encode() not in received[0]
        assert TRACE in printed.stdout
        full = brain("trace", task_id, "--content", *place, environ=sidecar.environ)
        assert CANARY in full.stdout
        assert brain("trace", task_id, "--send", url, *place, environ=sidecar.environ).returncode == 0
        assert names(received[1]) == wanted
    with collector(status=503) as (url, _), running_sidecar(tmp_path) as sidecar:
        refused = brain("trace", task_id, "--send", url, *place, environ=sidecar.environ)
        assert refused.returncode == 1 and "503" in refused.stderr


def test_statistics_call_an_estimate_an_estimate(seen: RunningSidecar) -> None:
    place = ("--data-dir", str(seen.data_dir))
    assert "No requests to models are recorded" in brain("stats", *place, environ=seen.environ).stdout
    models = seen.script("paid", [{"text": "done", "usage": USED}])
    seen.wait_for_end(execute(seen, "think", models=models, intent="explain_code"))
    shown = brain("stats", *place, environ=seen.environ).stdout
    assert "scripted/paid" in shown and "coder" in shown and "1,000" in shown and "$0.5000" in shown
    assert "EST. COST" in shown and "estimates by the price table" in shown
    (row,) = json.loads(brain("stats", "--json", *place, environ=seen.environ).stdout)["spent"]
    assert row["estimatedCostUsd"] == 0.5 and row["requests"] == 1
