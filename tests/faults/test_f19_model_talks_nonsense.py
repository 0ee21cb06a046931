"""F19: broken JSON arguments, an unknown tool, extra arguments, duplicate ids, 10 MB arguments, 500 parallel calls.

An error result to the model, and a history that is valid for the next request, at every provider.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.servers.http import Answer, Server, a_server
from tests.contract.servers.speech import Call, Speaker, Speech
from tests.contract.servers.stage import SPEAKERS
from tests.e2e.support import RunningSidecar, running_sidecar

Json = dict[str, Any]


class Place:
    """A real sidecar whose model is one of the servers."""

    def __init__(self, speaker: Speaker, server: Server, sidecar: RunningSidecar) -> None:
        self.speaker = speaker
        self.server = server
        self.sidecar = sidecar

    def told(self, *calls: Call) -> list[tuple[str, Any]]:
        """What the model is told after it asked for these; the task then ends as usual."""
        speeches = (Speech(text="I look.", calls=calls), Speech(text="I give up."))
        self.server.plays(*[Answer([self.speaker.stream(speech)]) for speech in speeches])
        models = dict.fromkeys(("fast", "smart", "instant"), f"{self.speaker.provider}/{self.speaker.model}")
        task = self.sidecar.execute("look around", models=models, intent="chat", approvals="readonly")
        ended = self.sidecar.wait_for_end(task)
        assert ended["status"] == "completed", ended
        assert ended["result"]["summary"] == "I give up."
        asked = self.speaker.asked(self.server.seen[-1].json)
        called = [what[0] for kind, what in asked if kind == "call"]
        answered = [what for kind, what in asked if kind == "result"]
        assert [name for name, _ in answered] == called, "every call has its result, in order"
        assert len(set(called)) == len(called), "and a name of its own"
        return answered


@pytest.fixture(params=SPEAKERS, ids=lambda speaker: speaker.provider, scope="module")
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    speaker: Speaker = request.param
    home = tmp_path_factory.mktemp(speaker.provider)
    with a_server() as server:
        environ = {speaker.key: "k", speaker.base_url: server.url + speaker.prefix()}
        with running_sidecar(home, **environ) as sidecar:
            (sidecar.workspace / "a.txt").write_text("hello\n")
            yield Place(speaker, server, sidecar)


@pytest.mark.parametrize("args", ['{"path": ', "[1, 2]", '"a.txt"', '{"path": "a.txt"}}', "NaN", "nonsense"])
def test_broken_arguments(place: Place, args: str) -> None:
    if place.speaker.provider == "gemini":
        pytest.skip("sends its arguments whole")
    broken, good = place.told(Call("read_file", args), Call("read_file", '{"path": "a.txt"}'))
    assert "arguments are not" in broken[1]
    assert "hello" in good[1]


def test_an_unknown_tool(place: Place) -> None:
    (answer,) = place.told(Call("fly/to the moon!", "{}"))
    assert "moon" in answer[1]


def test_extra_arguments(place: Place) -> None:
    (answer,) = place.told(Call("read_file", '{"path": "a.txt", "sandbox": false}'))
    assert "sandbox" in answer[1]


def test_duplicate_ids(place: Place) -> None:
    twice = Call("read_file", '{"path": "a.txt"}', id="same")
    one, other = place.told(twice, Call("list_dir", "{}", id="same"))
    assert "hello" in one[1]
    assert "a.txt" in other[1]


def test_ten_megabytes_of_arguments(place: Place) -> None:
    large = json.dumps({"path": "a.txt", "content": "x" * 10_000_000})
    (answer,) = place.told(Call("read_file", large))
    assert len(answer[1]) < 10_000
    if place.speaker.provider != "gemini":
        assert len(place.server.seen[-1].body) < 1_000_000


def test_five_hundred_calls_at_once(place: Place) -> None:
    answers = place.told(*[Call("read_file", '{"path": "a.txt"}') for _ in range(500)])
    assert sum("hello" in text for _, text in answers) == 100
    assert sum("At most 100 calls" in text for _, text in answers) == 400
