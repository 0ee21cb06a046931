"""Trying a model, and choosing who plays a role: through the real process, as the panel and the command do."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.servers.http import Answer, Server, a_server
from tests.contract.servers.speech import Call, Speaker, Speech, Trouble
from tests.contract.servers.stage import CANARY, SPEAKERS, USUAL_SPEAKERS
from tests.e2e.support import RunningSidecar, running_sidecar
from tests.e2e.terminal import brain
from tests.waiting import SECONDS

READY = Speech(calls=(Call("ready", '{"word": "yes"}'),))
CLAUDE, OPENAI = SPEAKERS[0], SPEAKERS[3]
Json = dict[str, Any]


def say(speaker: Speaker, *speeches: Speech) -> list[Answer]:
    return [Answer([speaker.stream(speech)]) for speech in speeches]


@pytest.fixture
def server() -> Iterator[Server]:
    with a_server() as server:
        yield server


@pytest.fixture
def sidecar(tmp_path: Path, workspace: Path, server: Server) -> Iterator[RunningSidecar]:
    with running_sidecar(tmp_path, **{CLAUDE.key: CANARY, CLAUDE.base_url: server.url}) as sidecar:
        yield sidecar


def tried(sidecar: RunningSidecar, model: str, **more: str) -> Json:
    answer = sidecar.post("/api/brain/models/test", {"model": model, **more}, timeout=SECONDS)
    assert answer.status == 200, answer.body
    found: Json = answer.json
    return found


@pytest.mark.parametrize("speaker", USUAL_SPEAKERS, ids=lambda speaker: speaker.provider)
def test_a_model_is_tried_with_one_small_request(
    tmp_path: Path, workspace: Path, server: Server, speaker: Speaker
) -> None:
    environ = {speaker.key: CANARY, speaker.base_url: server.url + speaker.prefix()}
    with running_sidecar(tmp_path, **environ) as sidecar:
        server.plays(*say(speaker, READY, Speech(text="I am ready.")))
        name = f"{speaker.provider}/{speaker.model}"
        found = tried(sidecar, name)
        assert (found["ok"], found["tools"], found["model"]) == (True, True, name)
        assert found["latencyMs"] > 0
        assert len(server.seen) == 1
        assert len(server.seen[0].body) < 1_000
        found = tried(sidecar, name)
        assert (found["ok"], found["tools"]) == (True, False)
        assert "did not call the requested tool" in found["message"]


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (Trouble(401), "brain keys set anthropic"),
        (Trouble(404), "claude-none"),
        (Trouble(529), "unavailable (529)"),
    ],
)
def test_a_model_that_does_not_answer_says_why_at_once(
    sidecar: RunningSidecar, server: Server, trouble: Trouble, said: str
) -> None:
    server.plays(CLAUDE.error(trouble))
    found = tried(sidecar, "anthropic/claude-none")
    assert found["ok"] is False
    assert said in found["message"]
    assert len(server.seen) == 1


def test_a_key_is_tried_before_it_is_stored_and_the_one_in_use_stays(sidecar: RunningSidecar, server: Server) -> None:
    other = "another-key-0123456789"
    server.plays(*say(CLAUDE, READY))
    assert tried(sidecar, "anthropic", key=other)["ok"]
    assert other in str(server.seen[0].headers)
    server.plays(CLAUDE.error(Trouble(401, message=f"invalid {other}")), *say(CLAUDE, READY))
    refused = tried(sidecar, "anthropic", key=other)
    assert not refused["ok"]
    assert other not in json.dumps(refused)
    assert tried(sidecar, "anthropic")["ok"]
    assert CANARY in str(server.seen[-1].headers)
    assert sidecar.post("/api/brain/models/test", {"model": "anthropic", "key": "no key"}).status == 422


def test_one_that_cannot_be_used_or_is_always_there_is_not_asked(sidecar: RunningSidecar, server: Server) -> None:
    assert "GROQ_API_KEY" in tried(sidecar, "groq/x")["message"]
    assert "provider/name" in tried(sidecar, "nonsense")["message"]
    assert tried(sidecar, "offline/basic")["ok"] is True
    refused = sidecar.post("/api/brain/models/test", {"model": "openai/x", "baseUrl": "http://example.com/v1"})
    assert (refused.status, refused.json["code"]) == (422, "not_on_this_machine")
    assert server.seen == []


def test_the_servers_on_this_machine_are_looked_for_when_asked(sidecar: RunningSidecar) -> None:
    answer = sidecar.get("/api/brain/models/local")
    assert answer.status == 200
    for found in answer.json["servers"]:
        assert found["baseUrl"].startswith("http://127.0.0.1:")


def test_a_choice_holds_from_the_next_task_on_and_can_be_undone(sidecar: RunningSidecar, server: Server) -> None:
    server.plays(*say(CLAUDE, READY, Speech(text="It is me.")))
    wanted = {"model": "anthropic/claude-mine", "role": "smart"}
    used = sidecar.request("PUT", "/api/brain/models/use", wanted, timeout=SECONDS).json
    assert used["changed"] is True
    assert used["back"] == ["brain use --role smart auto"]
    assert {"role": "smart", "chain": ["anthropic/claude-mine"]} in used["roles"]
    task = sidecar.wait_for_end(sidecar.execute("who are you?", intent="chat"))
    assert task["result"]["summary"] == "It is me."
    assert server.seen[-1].json["model"] == "claude-mine"
    back = brain(*used["back"][0].split()[1:], "--data-dir", str(sidecar.data_dir), environ=sidecar.environ)
    assert back.returncode == 0, back.stderr
    (smart,) = [role for role in sidecar.get("/api/brain/models").json["roles"] if role["role"] == "smart"]
    assert smart["chain"] != ["anthropic/claude-mine"]


def test_one_that_does_not_answer_is_not_chosen_unless_told_so(
    sidecar: RunningSidecar, server: Server, tmp_path: Path
) -> None:
    server.plays(CLAUDE.error(Trouble(404)))
    config = tmp_path / "config" / "rainy-brain" / "config.toml"
    use = ("use", "anthropic/claude-none", "--data-dir", str(sidecar.data_dir))
    refused = brain(*use, environ=sidecar.environ)
    assert refused.returncode == 1
    assert "Nothing changed" in refused.stdout
    assert not config.exists()
    assert brain(*use, "--force", environ=sidecar.environ).returncode == 0
    assert config.read_text().count('"anthropic/claude-none"') == 3
    written = config.read_text()
    for name in ("claude", "martian/x", "groq/"):
        wanted = {"model": name, "force": True}
        nonsense = sidecar.request("PUT", "/api/brain/models/use", wanted)
        assert (nonsense.status, nonsense.json["code"]) == (422, "bad_choice"), name
    assert config.read_text() == written


def test_a_server_on_this_machine_is_used_by_one_command(tmp_path: Path, workspace: Path, server: Server) -> None:
    with running_sidecar(tmp_path) as sidecar:
        server.plays(*say(OPENAI, READY, Speech(text="From next door.")))
        at = f"{server.url}{OPENAI.prefix()}"
        used = brain("use", "openai/tiny", "--at", at, "--data-dir", str(sidecar.data_dir), environ=sidecar.environ)
        assert used.returncode == 0, used.stdout + used.stderr
        assert "brain use auto" in used.stdout
        task = sidecar.wait_for_end(sidecar.execute("where are you?", intent="chat"))
        assert task["result"]["summary"] == "From next door."
        refused = sidecar.request(
            "PUT", "/api/brain/models/use", {"model": "openai/x", "baseUrl": "http://10.0.0.1/v1"}
        )
        assert (refused.status, refused.json["code"]) == (422, "bad_choice")
        assert brain("use", "offline", "--data-dir", str(sidecar.data_dir), environ=sidecar.environ).returncode == 0
        chains = [role["chain"] for role in sidecar.get("/api/brain/models").json["roles"]]
        assert chains == [["offline/basic"]] * 3


def test_without_any_model_a_task_says_what_to_do_and_goes_on_once_it_is_done(
    tmp_path: Path, workspace: Path, server: Server
) -> None:
    with running_sidecar(tmp_path) as sidecar:
        task = sidecar.execute("compose a sonnet about the sea and its many moods", intent="chat")
        failed = sidecar.wait_for_end(task)
        assert (failed["status"], failed["error"]["code"]) == ("failed", "not_understood")
        assert failed["error"]["recoverable"]
        assert "brain doctor" in failed["error"]["message"] or "brain keys" in failed["error"]["message"]
        server.plays(*say(OPENAI, READY, Speech(text="Waves.")))
        at = f"{server.url}{OPENAI.prefix()}"
        used = brain("use", "openai/tiny", "--at", at, "--data-dir", str(sidecar.data_dir), environ=sidecar.environ)
        assert used.returncode == 0, used.stdout + used.stderr
        assert sidecar.post(f"/api/brain/tasks/{task}/resume").status == 202
        sidecar.wait_for_event(task, lambda event: event["type"] == "complete")
        assert sidecar.task(task)["result"]["summary"] == "Waves."


def test_the_command_tries_every_model_that_plays_a_role(sidecar: RunningSidecar, server: Server) -> None:
    server.plays(*say(CLAUDE, READY, READY))
    done = brain("models", "--test", "--json", "--data-dir", str(sidecar.data_dir), environ=sidecar.environ)
    assert done.returncode == 0, done.stderr
    names = [test["model"] for test in json.loads(done.stdout)]
    assert len(names) == len(set(names)) == len(server.seen)
    server.plays(CLAUDE.error(Trouble(401)))
    assert brain("models", "--test", "anthropic/x", environ=sidecar.environ).returncode == 1


def test_the_doctor_names_what_keeps_a_chosen_model_from_answering(home: dict[str, str]) -> None:
    home |= {"OPENAI_BASE_URL": "localhost:11434", "BRAIN_MODEL_SMART": "openai/tiny"}
    told = brain("doctor", environ=home).stdout
    assert "missing" in told and "'localhost:11434'" in told and "OPENAI_BASE_URL" in told
    assert told.rstrip().endswith("Everything works except the missing parts.")
