"""A server on this machine that holds little, against the real process: it is asked how much, and never sent more."""

import json
from pathlib import Path

from tests.contract.servers.completions import Completions
from tests.contract.servers.http import Answer, a_server
from tests.contract.servers.speech import Call, Speech
from tests.e2e.support import running_sidecar
from tests.waiting import wait_until

HOLDS = 4_096
OPENAI = Completions("openai")
FAILING = "import sys; print('1 failed: FAILURE'); sys.exit(1)"


def plays(*calls: Call) -> Answer:
    return Answer([OPENAI.stream(Speech(calls=calls) if calls else Speech(text="Done."))])


def test_a_long_task_fits_into_a_small_window_also_after_a_crash(tmp_path: Path) -> None:
    properties = {"default_generation_settings": {"n_ctx": HOLDS}, "chat_template_caps": {"supports_tools": True}}
    reads = [plays(Call("read_file", json.dumps({"path": f"{number}.txt"}), id=f"r{number}")) for number in range(12)]
    recall = plays(Call("recall", '{"query": "the word of file 3"}', id="recall"))
    with a_server() as server:
        server.fixed[("GET", "/props")] = Answer([json.dumps(properties).encode()], content_type="application/json")
        environ = {OPENAI.base_url: server.url + OPENAI.prefix(), "BRAIN_MODEL_INSTANT": "openai/tiny"}
        with running_sidecar(tmp_path, **environ) as sidecar:
            for number in range(12):
                (sidecar.workspace / f"{number}.txt").write_text(f"the word of file {number}\n" + "and more\n" * 200)
            (sidecar.workspace / "fails.py").write_text(FAILING)
            check = plays(Call("run_command", '{"command": "python3 fails.py"}', id="check"))
            server.plays(check, *reads, recall, Answer(silent=True))
            task = sidecar.execute("RULE: change nothing", intent="run_command", approvals="auto", verify="off")
            wait_until(lambda: len(server.seen) == 15, what="the last request")
            before = server.seen[-1].json["messages"]
            # What was recalled is written with the turn; then nobody can lose it.
            wait_until(lambda: "left out" in json.dumps(sidecar.events(task)), what="what was left out")
            sidecar.kill()
            server.plays(plays())
            sidecar.start()
            assert sidecar.wait_for_end(task)["status"] == "completed"
            events = sidecar.events(task)
    for seen in server.seen:
        assert len(seen.body) <= HOLDS * 4, "more than the server holds"
        sent = seen.body.decode()
        assert "RULE: change nothing" in sent
        assert seen is server.seen[0] or "FAILURE" in sent, "the check that failed stays"
    assert "the word of file 3" in before[-1]["content"]
    assert any("are left out" in event.get("reason", "") for event in events if event["type"] == "model")
