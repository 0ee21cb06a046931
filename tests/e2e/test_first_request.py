"""What the coder is sent first is small, for every provider and however large the workspace: all of it is counted."""

import json
import subprocess
from itertools import pairwise, takewhile
from pathlib import Path

import pytest

from sidecar.work.context import FIRST_REQUEST_BYTES
from tests.contract.servers.completions import Completions
from tests.contract.servers.http import Answer, Server, a_server
from tests.contract.servers.speech import Call, Speaker, Speech
from tests.contract.servers.stage import CANARY, USUAL_SPEAKERS
from tests.e2e.support import RunningSidecar, running_sidecar
from tests.e2e.terminal import brain
from tests.waiting import wait_until

TASK = 'fix "it" in @big.py'
SELECTED = "def selected():\n    ..."
OPENAI = Completions("openai")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """More of everything than can be told."""
    place = tmp_path / "workspace" / ("deep" * 30) / ("down" * 30)
    for number in range(200):
        folder = place / f"folder_with_a_long_name_{number:03}"
        folder.mkdir(parents=True)
        for name in ("one", "two", "three"):
            (folder / f"{name}_{'x' * 60}.py").write_text("")
    (place / ".venv").mkdir()
    (place / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (place / "big.py").write_text('x = "1"\n' * 50_000)
    subprocess.run(["git", "init", "-q", "-b", "topic/" + "long" * 30], cwd=place, check=True)
    return place


def asked(sidecar: RunningSidecar, server: Server, speaker: Speaker) -> bytes:
    trusted = brain("trust", str(sidecar.workspace), "--data-dir", str(sidecar.data_dir), environ=sidecar.environ)
    assert trusted.returncode == 0, trusted.stderr
    server.plays(Answer([speaker.stream(Speech(text="Done."))]))
    open_files = [f"src/{'y' * 80}{number}.py" for number in range(200)]
    context = {"selectedCode": SELECTED, "currentFile": "big.py", "openFiles": open_files}
    sidecar.wait_for_end(sidecar.execute(TASK, context=context, agentType="coder", intent="edit_code"))
    return server.seen[0].body


def size_beside(body: bytes, *given: str) -> int:
    """What is sent, without what the user gave, which is counted as it is sent too."""
    return len(body) - sum(len(json.dumps(text)) - 2 for text in given)


@pytest.mark.parametrize("speaker", USUAL_SPEAKERS, ids=lambda speaker: speaker.provider)
def test_the_first_request_of_the_coder_is_small(tmp_path: Path, workspace: Path, speaker: Speaker) -> None:
    with a_server() as server:
        environ = {speaker.key: CANARY, speaker.base_url: server.url + speaker.prefix()}
        with running_sidecar(tmp_path, workspace=workspace, **environ) as sidecar:
            body = asked(sidecar, server, speaker)
    size = size_beside(body, TASK, SELECTED)
    print(f"{speaker.provider}: {size} bytes beside what the user gave")
    assert size <= FIRST_REQUEST_BYTES == 6_144
    for told in (
        "Workspace:",
        "Changed since",
        "folder_with",
        "x = ",
        "read_file",
        "run_command",
        "edit_file",
        "multi_edit",
    ):
        assert told in body.decode(), f"{told!r} is not told any more"
    assert ".venv" not in body.decode()


@pytest.mark.parametrize("speaker", USUAL_SPEAKERS, ids=lambda speaker: speaker.provider)
def test_the_coder_goes_on_with_the_planners_conversation(tmp_path: Path, workspace: Path, speaker: Speaker) -> None:
    """Word for word, tools and system prompt included, so that a provider's cache knows all of it."""
    steps = [{"id": str(number), "title": f"Write {number}", "files": [f"{number}.py"]} for number in range(1, 31)]
    with a_server() as server:
        environ = {speaker.key: CANARY, speaker.base_url: server.url + speaker.prefix()}
        with running_sidecar(tmp_path, workspace=workspace, **environ) as sidecar:
            plan = Speech(text=f"A plan.\n{json.dumps({'steps': steps})}")
            server.plays(Answer([speaker.stream(plan)]), Answer([speaker.stream(Speech(text="Done."))]))
            task = sidecar.execute(TASK, intent="refactor_code")
            wait_until(lambda: len(server.seen) > 1, what="the coder's request")
            sidecar.post(f"/api/brain/tasks/{task}/cancel")
    first, second = (seen.body for seen in server.seen[:2])
    assert speaker.tools(server.seen[0].json) == speaker.tools(server.seen[1].json)
    asked = [speaker.asked(seen.json) for seen in server.seen[:2]]
    assert asked[1][: len(asked[0])] == asked[0]
    added = len(second) - len(first) - size_beside(json.dumps(plan.text).encode())
    assert added < 500, f"{added} bytes beside the plan itself"
    assert "Now do step 1: Write 1. Files: 1.py." in second.decode()


def shared_beginning(one: bytes, other: bytes) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


@pytest.mark.parametrize("speaker", USUAL_SPEAKERS, ids=lambda speaker: speaker.provider)
def test_a_second_turn_and_a_follow_up_begin_with_the_bytes_that_were_sent_before(
    tmp_path: Path, speaker: Speaker
) -> None:
    """A provider's cache knows at least nine tenths of what it was sent, in the order in which it was sent."""
    with a_server() as server:
        environ = {speaker.key: CANARY, speaker.base_url: server.url + speaker.prefix()}
        with running_sidecar(tmp_path, **environ) as sidecar:
            (sidecar.workspace / "a.txt").write_text("some text\n" * 100)
            look = Speech(calls=(Call("read_file", '{"path": "a.txt"}', id="c1"),))
            server.plays(Answer([speaker.stream(look)]), *[Answer([speaker.stream(Speech(text="I read it."))])] * 2)
            task = sidecar.execute("what is in a.txt?", intent="explain_code")
            sidecar.wait_for_end(task)
            sidecar.post(f"/api/brain/tasks/{task}/messages", {"text": "/explain and what else?"})
            wait_until(lambda: len(server.seen) > 2, what="the follow-up's request")
    bodies = [seen.body for seen in server.seen[:3]]
    for before, after in pairwise(bodies):
        known = shared_beginning(before, after) / len(before)
        print(f"{speaker.provider}: {known:.1%} of {len(before)} bytes")
        assert known >= 0.9
    if speaker.provider == "anthropic":
        assert b'"cache_control":{"type":"ephemeral"}' in bodies[0]


EFFORT = {
    "anthropic": b'"output_config":{"effort":"low"}',
    "gemini": b'"thinkingLevel":"LOW"',
    "groq": b'"reasoning_effort":"low"',
    "openai": b'"reasoning_effort":"low"',
}


@pytest.mark.parametrize("speaker", USUAL_SPEAKERS, ids=lambda speaker: speaker.provider)
def test_the_effort_that_you_set_is_asked_of_a_model_that_reasons(tmp_path: Path, speaker: Speaker) -> None:
    with a_server() as server:
        environ = {speaker.key: CANARY, speaker.base_url: server.url + speaker.prefix(), "BRAIN_MODEL_EFFORT": "low"}
        with running_sidecar(tmp_path, **environ) as sidecar:
            server.plays(Answer([speaker.stream(Speech(text="Done."))]))
            sidecar.wait_for_end(sidecar.execute("hello", intent="chat"))
            server.plays(Answer([speaker.stream(Speech(text="Done."))]))
            sidecar.wait_for_end(sidecar.execute("hello", intent="chat", effort="high"))
    assert EFFORT[speaker.provider] in server.seen[0].body
    high = EFFORT[speaker.provider].replace(b"low", b"high").replace(b"LOW", b"HIGH")
    assert high in server.seen[1].body, "a task's own choice wins"


def test_it_is_as_small_for_a_model_that_is_driven_by_a_schema(tmp_path: Path, workspace: Path) -> None:
    with a_server() as server:
        shown = json.dumps({"capabilities": ["completion"]}).encode()
        server.fixed[("POST", "/api/show")] = Answer([shown], content_type="application/json")
        environ = {OPENAI.base_url: server.url + OPENAI.prefix(), "BRAIN_MODEL_SMART": "openai/tiny"}
        with running_sidecar(tmp_path, workspace=workspace, **environ) as sidecar:
            body = asked(sidecar, server, OPENAI)
    sent = json.loads(body)
    # The form holds the model's hand; it is not read by it.
    form = len(json.dumps(sent["response_format"], ensure_ascii=False, separators=(",", ":")).encode())
    print(f"driven by a schema: {size_beside(body, TASK, SELECTED) - form} bytes, and a form of {form}")
    assert size_beside(body, TASK, SELECTED) - form <= FIRST_REQUEST_BYTES


@pytest.mark.parametrize("speaker", USUAL_SPEAKERS, ids=lambda speaker: speaker.provider)
def test_further_tools_are_told_of_when_they_are_asked_for(tmp_path: Path, speaker: Speaker) -> None:
    """One that was not told of can be called all the same, and after a crash the same ones are offered."""
    with a_server() as server:
        environ = {speaker.key: CANARY, speaker.base_url: server.url + speaker.prefix()}
        with running_sidecar(tmp_path, **environ) as sidecar:
            wanted = Call("more_tools", '{"names": ["git_blame", "no_such_tool"]}', id="m1")
            unasked = Call("get_workspace_info", "{}", id="c1")
            server.plays(Answer([speaker.stream(Speech(calls=(wanted, unasked)))]), Answer(silent=True))
            task = sidecar.execute("make it new", agentType="coder", intent="edit_code", approvals="auto")
            wait_until(lambda: len(server.seen) == 2, what=f"the second request: {sidecar.events(task)}")
            # What is seen is on the disk; what was only read may be asked for again.
            sidecar.wait_for_event(task, lambda event: event["type"] == "tool" and event["status"] == "success")
            sidecar.kill()
            server.plays(Answer([speaker.stream(Speech(text="Done."))]))
            sidecar.start()
            assert sidecar.wait_for_end(task)["status"] == "completed"
        first, second, third = (speaker.tools(seen.json) for seen in server.seen)
        assert "git_blame" not in first
        assert "get_workspace_info" not in first
        assert second == [*first, "git_blame"], "what was there stays where it was"
        assert third == second
        results = [what[1] for kind, what in speaker.asked(server.seen[2].json) if kind == "result"]
        assert "git_blame" in results[0]
        assert "no tool no_such_tool" in results[0]
        assert str(sidecar.workspace) in results[1]
