"""Servers on this machine: found, asked what they can do, and driven by a JSON schema where they know no tools."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sidecar.config.settings import ModelSettings, Settings
from sidecar.models.access import is_local
from sidecar.models.local import LocalModel, find, probe, to_wire
from sidecar.models.port import ModelTurn, Stop, ToolReturn, ToolTurn
from tests.contract.servers.completions import Completions
from tests.contract.servers.http import Answer, Server, a_server, failing
from tests.contract.servers.speech import Speech
from tests.contract.servers.stage import SAY, Stage, a_stage

OPENAI = Completions("openai")


def _json(body: object) -> Answer:
    return Answer([json.dumps(body).encode()], content_type="application/json")


def _list(**more: object) -> Answer:
    return _json({"object": "list", "data": [{"id": "tiny", "object": "model", **more}]})


def _ollama(server: Server) -> None:
    server.fixed[("POST", "/api/show")] = _json(
        {"capabilities": ["completion"], "model_info": {"x.context_length": 131072}}
    )
    server.fixed[("GET", "/api/ps")] = _json({"models": [{"name": "tiny", "context_length": 4096}]})


def _lm_studio(server: Server) -> None:
    model = {"id": "tiny", "max_context_length": 131072, "loaded_context_length": 4096, "capabilities": ["tool_use"]}
    server.fixed[("GET", "/api/v0/models")] = _json({"data": [model]})


def _llama_cpp(server: Server) -> None:
    props = {"default_generation_settings": {"n_ctx": 4096}, "chat_template_caps": {"supports_tools": True}}
    server.fixed[("GET", "/props")] = _json(props)


def _vllm(server: Server) -> None:
    server.fixed[("GET", "/v1/models")] = _list(max_model_len=4096)


@pytest.mark.parametrize(
    ("kind", "tools"),
    [(_ollama, False), (_lm_studio, True), (_llama_cpp, True), (_vllm, None)],
    ids=["ollama", "lm studio", "llama.cpp", "vllm"],
)
def test_each_says_what_it_really_holds(kind: Any, tools: bool | None) -> None:
    with a_server() as server:
        server.fixed[("GET", "/v1/models")] = _list()
        kind(server)
        assert probe(f"{server.url}/v1", "tiny") == LocalModel("tiny", 4096, tools)
        (found,) = find([("here", server.port), ("not here", 9)])
        assert found.models == [LocalModel("tiny", 4096, tools)]
        assert server.seen == [], "nobody was asked to say anything"
        (told,) = to_wire([found]).model_dump(by_alias=True)["servers"]
        (model,) = told["models"]
        assert (told["baseUrl"], model["name"], model["contextWindow"]) == (found.base_url, "openai/tiny", 4096)


def test_what_is_no_model_server_is_not_taken_for_one() -> None:
    with a_server() as server:
        server.fixed[("GET", "/v1/models")] = Answer([b"<html>hello</html>"], content_type="text/html")
        assert find([("a web page", server.port)]) == []


@pytest.mark.parametrize("said", [[], "yes", {"default_generation_settings": 3, "capabilities": 3, "data": [3]}])
def test_what_says_something_else_is_no_reason_to_fail(said: Any) -> None:
    with a_server() as server:
        for route in (("POST", "/api/show"), ("GET", "/api/ps"), ("GET", "/api/v0/models"), ("GET", "/props")):
            server.fixed[route] = _json(said)
        assert probe(f"{server.url}/v1", "tiny") == LocalModel("tiny")


@pytest.mark.parametrize(
    ("shown", "loaded"),
    [({"parameters": "temperature 1\nnum_ctx                        4096"}, []), ({}, ["tiny:latest"])],
    ids=["told to hold so much", "loaded by its whole name"],
)
def test_ollama_says_it_in_more_than_one_way(shown: dict[str, Any], loaded: list[str]) -> None:
    with a_server() as server:
        server.fixed[("POST", "/api/show")] = _json({"capabilities": ["tools"], **shown})
        running = [{"name": name, "model": name, "context_length": 4096} for name in loaded]
        server.fixed[("GET", "/api/ps")] = _json({"models": running})
        assert probe(f"{server.url}/v1", "tiny") == LocalModel("tiny", 4096, True)


@pytest.mark.parametrize("url", ["https://api.openai.com/v1", "http://10.0.0.1/v1", "http://127.0.0.1.nip.io/v1"])
def test_only_this_machine_is_asked(url: str) -> None:
    assert not is_local(url)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(OPENAI, tmp_path) as stage:
        yield stage


ANSWER = {
    "say": "I look.",
    "calls": [{"tool": "read_file", "args": {"path": "a.py"}}, {"tool": "list_dir", "args": {}}],
}


async def test_a_server_that_refuses_tools_is_driven_by_a_schema(stage: Stage) -> None:
    refusal = failing(400, {"error": {"message": "registry/tiny does not support tools"}})
    end = Speech(text=json.dumps({"say": "Done.", "calls": []}))
    stage.server.plays(refusal, Answer([OPENAI.stream(Speech(text=json.dumps(ANSWER)))]), Answer([OPENAI.stream(end)]))
    model = stage.model()
    deltas, reply = await stage.ask(model=model)
    assert reply.stop is Stop.TOOL_USE
    assert [(call.tool, call.args) for call in reply.calls] == [("read_file", {"path": "a.py"}), ("list_dir", {})]
    assert "".join(delta.text for delta in deltas) == reply.text == "I look."
    body = stage.server.seen[-1].json
    assert "tools" not in body
    tools = body["response_format"]["json_schema"]["schema"]["properties"]["calls"]["items"]["anyOf"]
    assert [tool["properties"]["tool"]["const"] for tool in tools] == ["read_file", "list_dir"]
    answers = [ToolReturn(id=call.id, tool=call.tool, status="success", content="x = 1") for call in reply.calls]
    _, last = await stage.ask(
        SAY, ModelTurn(text=reply.text, calls=reply.calls), ToolTurn(returns=answers), model=model
    )
    assert (last.text, last.stop) == ("Done.", Stop.END)
    assert len(stage.server.seen) == 3, "tools are not offered again"
    assert "x = 1" in stage.server.seen[-1].json["messages"][-1]["content"]


async def test_a_server_that_says_so_is_not_even_offered_tools(stage: Stage) -> None:
    _ollama(stage.server)
    stage.says(Speech(text=json.dumps({"say": "Hello.", "calls": []})))
    _, reply = await stage.ask()
    assert reply.text == "Hello."
    assert "tools" not in stage.server.seen[0].json


@pytest.mark.parametrize("text", ["Just words.", "[1]", '{"calls": 3}', '{"other": 1}', "{half"])
async def test_what_is_not_in_the_form_is_taken_as_said(stage: Stage, text: str) -> None:
    _ollama(stage.server)
    stage.says(Speech(text=text))
    _, reply = await stage.ask()
    assert (reply.text, reply.calls) == (text, [])


async def test_what_the_server_would_cut_off_is_refused(stage: Stage) -> None:
    _llama_cpp(stage.server)
    stage.says(Speech(text="Yes."))
    _, reply = await stage.ask(SAY.model_copy(update={"text": "long " * 10_000}))
    assert reply.failure and reply.failure.code == "context_overflow"
    assert stage.server.seen == []


async def test_a_server_that_loads_its_model_first_is_asked_once_more(stage: Stage) -> None:
    """What it holds is not known before; without it, a long conversation would be cut off without a word."""
    server = stage.server
    server.fixed[("POST", "/api/show")] = _json({"capabilities": ["tools"]})
    server.fixed[("GET", "/api/ps")] = _json({"models": []})
    stage.says(Speech(text="Yes."))
    await stage.catalog.warm()
    model = stage.model()
    _, reply = await stage.ask(model=model)
    assert reply.text == "Yes."
    loaded = {"name": OPENAI.model, "context_length": 4096}
    server.fixed[("GET", "/api/ps")] = _json({"models": [loaded]})
    _, reply = await stage.ask(SAY.model_copy(update={"text": "long " * 10_000}), model=model)
    assert reply.failure and reply.failure.code == "context_overflow"
    assert len(server.seen) == 1


async def test_what_the_server_holds_is_known_once_it_is_warm(stage: Stage) -> None:
    _llama_cpp(stage.server)
    stage.catalog._choices = ModelSettings(Settings(model_smart=f"openai/{OPENAI.model}"))
    await stage.catalog.warm()
    model: Any = stage.model()
    assert model.capabilities.context_tokens == 4096
