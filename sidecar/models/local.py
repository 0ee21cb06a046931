"""Model servers on this machine: found on their usual ports, and asked what their models can really do.

Nothing here runs unless somebody asks for it. Only loopback addresses are called, and no redirect is followed.
"""

import http.client
import json
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sidecar.models.access import is_local
from sidecar.wire.models import LocalModelInfo, LocalServerInfo, LocalServerList

#: Where each listens unless it is told otherwise.
USUAL = (("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080), ("vLLM", 8000))
SECONDS = 1.0
#: For all of a search; models that were not asked by then are named without what they can do.
SEARCH_SECONDS = 4.0
MOST_MODELS = 20
_MOST_BYTES = 4_000_000
#: How Ollama lists what its model was told to hold.
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.M)


@dataclass(frozen=True, slots=True)
class LocalModel:
    name: str
    #: How many tokens the server really holds for it; none if it does not say.
    context_tokens: int | None = None
    #: Whether it can be offered tools; none if the server does not say.
    tools: bool | None = None


@dataclass(frozen=True, slots=True)
class LocalServer:
    kind: str
    base_url: str
    models: Sequence[LocalModel]


def find(places: Sequence[tuple[str, int]] = USUAL) -> list[LocalServer]:
    end = time.monotonic() + SEARCH_SECONDS
    with ThreadPoolExecutor(max(1, len(places))) as pool:
        found = pool.map(lambda place: _look(place[0], place[1], end), places)
        return [server for server in found if server is not None]


def on_the_wire(servers: Sequence[LocalServer]) -> LocalServerList:
    """As it is told to whoever asks, with the names by which the models are used."""

    def model(found: LocalModel) -> LocalModelInfo:
        return LocalModelInfo(name=f"openai/{found.name}", context_window=found.context_tokens, tools=found.tools)

    return LocalServerList(
        servers=[
            LocalServerInfo(kind=server.kind, base_url=server.base_url, models=[model(each) for each in server.models])
            for server in servers
        ]
    )


def probe(base_url: str, name: str) -> LocalModel:
    """What the server says of one model. A server that says nothing is no reason to fail."""
    if not is_local(base_url):
        return LocalModel(name)
    for ask in (_ollama, _lm_studio, _llama_cpp, _listed):
        # What answers there may be something else, and say something else by the same names.
        with suppress(AttributeError, KeyError, TypeError):
            known = ask(base_url, name)
            if known is not None:
                return known
    return LocalModel(name)


def _look(kind: str, port: int, end: float) -> LocalServer | None:
    base_url = f"http://127.0.0.1:{port}/v1"
    listed = _call(base_url, "GET", "/v1/models")
    if not isinstance(listed, dict) or not isinstance(listed.get("data"), list):
        return None
    names = [str(model["id"]) for model in listed["data"] if isinstance(model, dict) and "id" in model]
    models = [probe(base_url, name) if time.monotonic() < end else LocalModel(name) for name in names[:MOST_MODELS]]
    return LocalServer(kind, base_url, models)


def _ollama(base_url: str, name: str) -> LocalModel | None:
    shown = _call(base_url, "POST", "/api/show", {"model": name})
    if not isinstance(shown, dict) or "capabilities" not in shown:
        return None
    running = _call(base_url, "GET", "/api/ps")
    models = running.get("models", []) if isinstance(running, dict) else []
    # Only a loaded model has a real size, or one that was told its own: what its file could hold is usually far more
    # than what is kept.
    names = (name, f"{name}:latest")
    loaded: dict[str, Any] = next(
        (each for each in models if isinstance(each, dict) and {each.get("name"), each.get("model")} & {*names}), {}
    )
    told = _NUM_CTX.search(str(shown.get("parameters", "")))
    size = _whole(loaded.get("context_length")) or (int(told[1]) if told else None)
    return LocalModel(name, size, "tools" in shown["capabilities"])


def _lm_studio(base_url: str, name: str) -> LocalModel | None:
    listed = _call(base_url, "GET", "/api/v0/models")
    for model in listed.get("data", []) if isinstance(listed, dict) else []:
        if isinstance(model, dict) and model.get("id") == name:
            able = model.get("capabilities")
            tools = "tool_use" in able if isinstance(able, list) else None
            return LocalModel(name, _whole(model.get("loaded_context_length")), tools)
    return None


def _llama_cpp(base_url: str, name: str) -> LocalModel | None:
    props = _call(base_url, "GET", "/props")
    if not isinstance(props, dict) or "default_generation_settings" not in props:
        return None
    able = props.get("chat_template_caps")
    tools = bool(able["supports_tools"]) if isinstance(able, dict) and "supports_tools" in able else None
    return LocalModel(name, _whole(props["default_generation_settings"].get("n_ctx")), tools)


def _listed(base_url: str, name: str) -> LocalModel | None:
    """vLLM says how much it holds in the list itself."""
    listed = _call(base_url, "GET", urlsplit(base_url).path.rstrip("/") + "/models")
    for model in listed.get("data", []) if isinstance(listed, dict) else []:
        if isinstance(model, dict) and model.get("id") == name:
            return LocalModel(name, _whole(model.get("max_model_len")))
    return None


def _call(base_url: str, method: str, path: str, body: object = None) -> Any:
    place = urlsplit(base_url)
    # By its number: what was checked is what is dialled, whatever a name stands for today.
    host = "127.0.0.1" if place.hostname == "localhost" else place.hostname or ""
    try:
        connection = http.client.HTTPConnection(host, place.port, timeout=SECONDS)
    except ValueError:
        return None
    try:
        sent = None if body is None else json.dumps(body)
        connection.request(method, path, sent, {"Content-Type": "application/json"} if sent else {})
        answer = connection.getresponse()
        return json.loads(_read(answer)) if answer.status == 200 else None
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()


def _read(answer: http.client.HTTPResponse) -> bytes:
    """A server that sends a little again and again is not listened to for ever."""
    end, content = time.monotonic() + SECONDS, b""
    while len(content) < _MOST_BYTES and (piece := answer.read1(65_536)):
        content += piece
        if time.monotonic() > end:
            raise TimeoutError
    return content


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
