"""Tasks with a language model, through the real process: the SDK, the wire, the journal, the events, the keys."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sidecar.work.router import route
from tests.contract.servers.http import Answer, Server, a_server
from tests.contract.servers.speech import Call, Speaker, Speech, Trouble
from tests.contract.servers.stage import CANARY, SPEAKERS, USUAL_SPEAKERS
from tests.e2e.support import RunningSidecar, running_sidecar
from tests.e2e.terminal import brain
from tests.sentences import all_sentences

Json = dict[str, Any]
READ = Call("read_file", '{"path": "notes.txt"}')


class Place:
    def __init__(self, speaker: Speaker, server: Server, sidecar: RunningSidecar) -> None:
        self.speaker, self.server, self.sidecar = speaker, server, sidecar

    def plays(self, *speeches: Speech) -> None:
        self.server.plays(*[Answer([self.speaker.stream(speech)]) for speech in speeches])

    def execute(self, task: str = "what do the notes say?", **options: object) -> str:
        return self.sidecar.execute(task, **{"intent": "chat", **options})

    def run(self, **options: object) -> tuple[Json, list[Json]]:
        task = self.execute(**options)
        return self.sidecar.wait_for_end(task), self.sidecar.events(task)


def _environ(speaker: Speaker, server: Server) -> dict[str, str]:
    return {speaker.key: CANARY, speaker.base_url: server.url + speaker.prefix()}


@pytest.fixture(params=USUAL_SPEAKERS, ids=lambda speaker: speaker.provider)
def place(request: pytest.FixtureRequest, tmp_path: Path, workspace: Path) -> Iterator[Place]:
    with a_server() as server, running_sidecar(tmp_path, **_environ(request.param, server)) as sidecar:
        yield Place(request.param, server, sidecar)


@pytest.fixture
def claude(tmp_path: Path, workspace: Path) -> Iterator[Place]:
    with a_server() as server, running_sidecar(tmp_path, **_environ(SPEAKERS[0], server)) as sidecar:
        yield Place(SPEAKERS[0], server, sidecar)


def test_a_key_is_all_it_needs_and_the_key_is_nowhere_to_be_found(place: Place, tmp_path: Path) -> None:
    show = Call("run_command", '{"command": "env"}')
    place.plays(
        Speech(thinking="Hm.", text="I look.", calls=(READ, show), read=500, cached=100),
        Speech(text="They say: water the plants.", read=700, written=30),
    )
    task, events = place.run(approvals="auto", intent="run_command")
    assert task["status"] == "completed", task
    assert task["result"]["summary"] == "They say: water the plants."
    assert task["usage"] == {"inputTokens": 1200, "outputTokens": 50, "cachedTokens": 100, **_cost(task)}
    assert any(event["type"] == "model" and event["provider"] == place.speaker.provider for event in events)
    told = json.dumps(place.speaker.asked(place.server.seen[-1].json))
    assert "water the plants" in told
    place.sidecar.close()
    for file in [path for path in tmp_path.rglob("*") if path.is_file()]:
        assert CANARY.encode() not in file.read_bytes(), f"the key stands in {file}"
    assert CANARY not in json.dumps(events)
    assert not any(CANARY in seen.body.decode() for seen in place.server.seen)


def _cost(task: Json) -> Json:
    return {"costUsd": task["usage"]["costUsd"]}


def test_a_bad_key_is_said_once_with_what_to_do(claude: Place) -> None:
    claude.server.plays(claude.speaker.error(Trouble(401, message="invalid x-api-key")))
    task, events = claude.run()
    assert task["status"] == "failed"
    assert (task["error"]["code"], task["error"]["recoverable"]) == ("bad_key", True)
    assert "brain keys set anthropic" in task["error"]["message"]
    assert len(claude.server.seen) == 1
    assert [event["type"] for event in events if event["type"] in ("error", "retry")] == ["error"]


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [(404, "model: claude-none", "unknown_model"), (400, "prompt is too long: 9 > 8", "context_overflow")],
)
def test_what_cannot_work_is_not_tried_again(claude: Place, status: int, message: str, code: str) -> None:
    claude.server.plays(claude.speaker.error(Trouble(status, message=message)))
    task, _ = claude.run(models={"smart": "anthropic/claude-none"})
    assert (task["status"], task["error"]["code"]) == ("failed", code)
    assert len(claude.server.seen) == 1


def test_after_the_trouble_is_over_the_task_is_resumed(claude: Place) -> None:
    claude.server.plays(claude.speaker.error(Trouble(401)))
    task = claude.execute()
    assert claude.sidecar.wait_for_end(task)["status"] == "failed"
    claude.plays(Speech(text="Now it works."))
    assert claude.sidecar.post(f"/api/brain/tasks/{task}/resume").status == 202
    claude.sidecar.wait_for_event(task, lambda event: event["type"] == "complete")
    assert claude.sidecar.task(task)["result"]["summary"] == "Now it works."


def test_a_better_key_is_used_without_a_new_start(tmp_path: Path, workspace: Path) -> None:
    speaker = SPEAKERS[0]
    with a_server() as server:
        environ = {speaker.base_url: server.url, "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
        with running_sidecar(tmp_path, **environ) as sidecar:
            put = ("keys", "set", "anthropic", "--data-dir", str(sidecar.data_dir))
            assert brain(*put, environ=sidecar.environ, stdin="bad-key\n").returncode == 0
            server.plays(speaker.error(Trouble(401)))
            task = sidecar.execute("hello", intent="chat")
            assert sidecar.wait_for_end(task)["error"]["code"] == "bad_key"
            assert brain(*put, environ=sidecar.environ, stdin="good-key\n").returncode == 0
            server.plays(Answer([speaker.stream(Speech(text="Welcome back."))]))
            sidecar.post(f"/api/brain/tasks/{task}/resume")
            sidecar.wait_for_event(task, lambda event: event["type"] == "complete")
    assert [seen.headers["authorization"] for seen in server.seen] == ["Bearer bad-key", "Bearer good-key"]


def test_a_refusal_ends_the_task_clearly(claude: Place) -> None:
    claude.plays(Speech(text="I would rather", stop="refusal"))
    task, _ = claude.run()
    assert (task["status"], task["error"]["code"]) == ("failed", "model_declined")


def test_empty_replies_end_the_task_and_it_can_be_resumed(claude: Place) -> None:
    claude.plays(Speech(text=""))
    task = claude.execute()
    ended = claude.sidecar.wait_for_end(task)
    assert (ended["status"], ended["error"]["code"]) == ("failed", "empty_reply")
    assert ended["error"]["recoverable"]
    assert len(claude.server.seen) < 12, "it is not asked for ever"
    claude.plays(Speech(text="Now I know."))
    claude.sidecar.post(f"/api/brain/tasks/{task}/resume")
    claude.sidecar.wait_for_event(task, lambda event: event["type"] == "complete")


def test_a_plan_that_is_no_plan_is_asked_for_once_more_and_then_done_without(claude: Place) -> None:
    claude.plays(
        Speech(text="First I would think about it."),
        Speech(text='{"steps": []}'),
        Speech(text="The work is done."),
        Speech(text='{"passed": true, "issues": []}'),
    )
    task, _ = claude.run(intent="refactor_code", verify="off")
    assert task["status"] == "completed", task
    assert "The work is done." in task["result"]["summary"]
    assert len(claude.server.seen) == 4
    asked_again = json.dumps(claude.speaker.asked(claude.server.seen[1].json))
    assert "can't be carried out" in asked_again


def test_an_unclear_request_is_routed_without_a_request_of_its_own(claude: Place) -> None:
    unclear = min(
        (sentence for _, sentence in all_sentences("unseen")), key=lambda sentence: route(sentence).confidence
    )
    claude.plays(Speech(text="Yes, it is.", read=50, written=3))
    ended = claude.sidecar.wait_for_end(claude.sidecar.execute(unclear, review="never"))
    assert (ended["usage"]["inputTokens"], ended["usage"]["outputTokens"]) == (50, 3)
    assert len(claude.server.seen) == 1


def test_an_agent_of_the_users_own_is_chosen_by_its_name(claude: Place, tmp_path: Path) -> None:
    own = tmp_path / "config" / "rainy-brain" / "agents"
    own.mkdir(parents=True)
    (own / "sql.md").write_text("---\ndescription: Writes SQL\ntools: read_file, write_file\n---\nYou write SQL.\n")
    assert "sql" in [agent["name"] for agent in claude.sidecar.get("/api/brain/agents").json["agents"]]
    claude.plays(Speech(text="SELECT 1;"))
    task, _ = claude.run(agentType="sql", intent="edit_code")
    assert task["result"]["summary"] == "SELECT 1;"
    asked = claude.server.seen[-1].json
    assert "You write SQL." in json.dumps(asked["system"])
    assert claude.speaker.tools(asked) == ["read_file", "write_file"]
    unknown, _ = claude.run(agentType="nosql", intent="edit_code")
    assert (unknown["status"], unknown["error"]["code"]) == ("failed", "no_agent")
    assert "sql" in unknown["error"]["message"]
    refused = claude.sidecar.post("/api/brain/execute", {"task": "x", "options": {"agentType": "../SQL"}})
    assert refused.status == 422


def test_a_model_no_one_has_a_key_for_is_named(claude: Place) -> None:
    task, _ = claude.run(models={"smart": "groq/openai/gpt-oss-20b"})
    assert (task["status"], task["error"]["code"]) == ("failed", "no_model")
    assert "GROQ_API_KEY" in task["error"]["message"]


@pytest.mark.parametrize("budget", [{"maxTokens": 1000}, {"maxCostUsd": 0.003}])
def test_a_budget_stops_the_task_and_a_resume_grants_it_again(claude: Place, budget: Json) -> None:
    claude.plays(*[Speech(text=f"{number}", calls=(READ,), read=1000) for number in range(8)])
    task = claude.execute(**budget, maxIterations=50)
    ended = claude.sidecar.wait_for_end(task)
    assert (ended["status"], ended["error"]["code"]) == ("failed", "budget_exceeded")
    assert ended["error"]["recoverable"]
    asked = len(claude.server.seen)
    assert 1 <= asked < 5
    claude.plays(Speech(text="Done.", read=10))
    claude.sidecar.post(f"/api/brain/tasks/{task}/resume")
    claude.sidecar.wait_for_event(task, lambda event: event["type"] == "complete")
    assert len(claude.server.seen) == asked + 1, "what was answered is not asked again"
    assert claude.sidecar.task(task)["usage"]["inputTokens"] == 1000 * asked + 10


def test_a_script_says_that_the_cost_limit_ended_its_task(claude: Place) -> None:
    claude.plays(*[Speech(text=f"{number}", calls=(READ,), read=1000) for number in range(8)])
    where = ("--data-dir", str(claude.sidecar.data_dir))
    arguments = ("run", "/edit it", "-p", "--max-cost", "0.003", "-m", "anthropic/claude-opus-4-8", *where)
    done = brain(*arguments, environ=claude.sidecar.environ, cwd=claude.sidecar.workspace, seconds=120)
    assert (done.returncode, done.stdout) == (1, "")
    assert "of $0.0030. What it did is kept; resume it" in done.stderr, done.stderr
    assert 1 <= len(claude.server.seen) < 5


def test_a_limit_of_cost_needs_a_price(claude: Place) -> None:
    claude.plays(Speech(text="Hello."))
    task, _ = claude.run(models={"smart": "anthropic/unheard-of"}, maxCostUsd=1)
    assert (task["status"], task["error"]["code"]) == ("failed", "price_unknown")


def test_cancel_closes_the_stream(claude: Place) -> None:
    whole = claude.speaker.stream(Speech(text="A long story."))
    claude.server.plays(Answer([whole[:700], whole[700:]], pause=60))
    task = claude.execute()
    claude.sidecar.wait_for_event(task, lambda event: event["type"] == "delta")
    claude.sidecar.post(f"/api/brain/tasks/{task}/cancel")
    assert claude.sidecar.wait_for_end(task)["status"] == "cancelled"


def test_killed_between_two_turns_it_asks_only_for_what_is_missing(claude: Place) -> None:
    claude.server.plays(Answer([claude.speaker.stream(Speech(text="I look.", calls=(READ,)))]), Answer(silent=True))
    task = claude.execute()
    claude.sidecar.wait_for_event(task, lambda event: event["type"] == "tool" and event["status"] == "success")
    claude.sidecar.kill()
    claude.plays(Speech(text="They say: water the plants."))
    claude.sidecar.restart()
    assert claude.sidecar.wait_for_end(task)["status"] == "completed"
    kinds = [kind for kind, _ in claude.speaker.asked(claude.server.seen[-1].json)]
    assert kinds[-3:] == ["model", "call", "result"]


def test_a_key_that_was_put_away_is_used_and_never_shown(tmp_path: Path, home: dict[str, str]) -> None:
    home["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    done = brain("keys", "set", "anthropic", environ=home, stdin=f"{CANARY}\n")
    assert done.returncode == 0, done
    kept = tmp_path / "data" / "keys.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    for words in (("keys",), ("models", "--no-search"), ("doctor",)):
        told = brain(*words, environ=home)
        assert CANARY not in told.stdout + told.stderr
    assert "anthropic/claude" in brain("models", "--no-search", environ=home).stdout
    assert brain("keys", "remove", "anthropic", environ=home).returncode == 0
    assert CANARY not in kept.read_text()
    assert "offline/basic" in brain("models", "--no-search", environ=home).stdout.splitlines()[0]


def test_a_workspace_names_no_key_and_no_place_to_send_it(claude: Place, workspace: Path) -> None:
    """Whatever a repository carries, the key goes where the user's own environment says."""
    with a_server() as evil:
        evil.plays(Answer([claude.speaker.stream(Speech(text="Mine."))]))
        for name in (".env", "config.toml", "prices.toml", ".brain/config.toml"):
            file = workspace / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(f'ANTHROPIC_BASE_URL="{evil.url}"\nANTHROPIC_API_KEY="stolen"\n')
        claude.plays(Speech(text="Hello."))
        task, _ = claude.run()
        assert task["status"] == "completed"
        assert evil.seen == []
        assert CANARY in claude.server.seen[-1].headers["authorization"]


def test_whoever_stops_it_does_not_wait_for_what_is_still_loading(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, **{speaker.key: CANARY for speaker in SPEAKERS}) as sidecar:
        assert sidecar.stop() == 0
