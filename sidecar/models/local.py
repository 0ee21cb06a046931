"""Finds model servers on their usual local ports, and asks what their models support.

Runs only on request. Calls only loopback addresses and follows no redirect.
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

#: Default ports.
USUAL = (("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080), ("vLLM", 8000))
SECONDS = 1.0
#: For the whole search; models not probed by then are listed by name only.
SEARCH_SECONDS = 4.0
MAX_MODELS = 20
_MAX_BYTES = 4_000_000
#: The context size in Ollama's parameter list.
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.M)


@dataclass(frozen=True, slots=True)
class LocalModel:
    name: str
    #: The server's real context size, if it says.
    context_tokens: int | None = None
    #: Tool support, if the server says.
    tools: bool | None = None


@dataclass(frozen=True, slots=True)
class LocalServer:
    kind: str
    base_url: str
    models: Sequence[LocalModel]


def find(places: Sequence[tuple[str, int]] = USUAL) -> list[LocalServer]:
    end = time.monotonic() + SEARCH_SECONDS
    with ThreadPoolExecutor(max(1, len(places))) as pool:
        found = pool.map(lambda place: _check(place[0], place[1], end), places)
        return [server for server in found if server is not None]


def to_wire(servers: Sequence[LocalServer]) -> LocalServerList:
    def model(found: LocalModel) -> LocalModelInfo:
        return LocalModelInfo(name=f"openai/{found.name}", context_window=found.context_tokens, tools=found.tools)

    return LocalServerList(
        servers=[
            LocalServerInfo(kind=server.kind, base_url=server.base_url, models=[model(each) for each in server.models])
            for server in servers
        ]
    )


def probe(base_url: str, name: str) -> LocalModel:
    """What the server reports about one model; nothing is not an error."""
    if not is_local(base_url):
        return LocalModel(name)
    for ask in (_ollama, _lm_studio, _llama_cpp, _list):
        # Another kind of server may answer with other data under the same names.
        with suppress(AttributeError, KeyError, TypeError):
            known = ask(base_url, name)
            if known is not None:
                return known
    return LocalModel(name)


def _check(kind: str, port: int, end: float) -> LocalServer | None:
    base_url = f"http://127.0.0.1:{port}/v1"
    listed = _call(base_url, "GET", "/v1/models")
    if not isinstance(listed, dict) or not isinstance(listed.get("data"), list):
        return None
    names = [str(model["id"]) for model in listed["data"] if isinstance(model, dict) and "id" in model]
    models = [probe(base_url, name) if time.monotonic() < end else LocalModel(name) for name in names[:MAX_MODELS]]
    return LocalServer(kind, base_url, models)


def _ollama(base_url: str, name: str) -> LocalModel | None:
    shown = _call(base_url, "POST", "/api/show", {"model": name})
    if not isinstance(shown, dict) or "capabilities" not in shown:
        return None
    running = _call(base_url, "GET", "/api/ps")
    models = running.get("models", []) if isinstance(running, dict) else []
    # The real size is that of a loaded model or its `num_ctx`; the model file claims far more than the server keeps.
    names = (name, f"{name}:latest")
    loaded: dict[str, Any] = next(
        (each for each in models if isinstance(each, dict) and {each.get("name"), each.get("model")} & {*names}), {}
    )
    num_ctx = _NUM_CTX.search(str(shown.get("parameters", "")))
    size = _whole(loaded.get("context_length")) or (int(num_ctx[1]) if num_ctx else None)
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


def _list(base_url: str, name: str) -> LocalModel | None:
    """vLLM reports the context size in the model list."""
    listed = _call(base_url, "GET", urlsplit(base_url).path.rstrip("/") + "/models")
    for model in listed.get("data", []) if isinstance(listed, dict) else []:
        if isinstance(model, dict) and model.get("id") == name:
            return LocalModel(name, _whole(model.get("max_model_len")))
    return None


def _call(base_url: str, method: str, path: str, body: object = None) -> Any:
    place = urlsplit(base_url)
    # Dial the checked address, not the name.
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
    except (OSError, http.client.HTTPException, ValueError, RecursionError):
        return None
    finally:
        connection.close()


def _read(answer: http.client.HTTPResponse) -> bytes:
    """Bounded in bytes and time."""
    end, content = time.monotonic() + SECONDS, b""
    while len(content) < _MAX_BYTES and (piece := answer.read1(65_536)):
        content += piece
        if time.monotonic() > end:
            raise TimeoutError
    return content


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
