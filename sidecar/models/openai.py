"""OpenAI, and what speaks its Chat Completions: Groq, Ollama, LM Studio, llama.cpp, vLLM."""

from importlib import import_module
from typing import Any

from sidecar.models.access import Access
from sidecar.models.completions import Completions, reasoning_effort
from sidecar.models.plain import Chat, Probe
from sidecar.models.prices import Price
from sidecar.wire.base import JsonObject


def client(access: Access) -> Any:
    # Both SDKs are generated alike.
    sdk: Any = import_module(access.provider)
    make = sdk.AsyncGroq if access.provider == "groq" else sdk.AsyncOpenAI
    timeout = sdk.Timeout(access.timeout, connect=access.connect_timeout)
    http = sdk.DefaultAsyncHttpxClient(timeout=timeout, **access.http)
    # The SDKs require a key; a local server doesn't.
    key = access.key or "none"
    return make(api_key=key, base_url=access.base_url, max_retries=0, timeout=timeout, http_client=http)


def dialect(
    name: str,
    client: Any,
    price: Price | None,
    reply_tokens: int,
    access: Access,
    probe: Probe | None,
    effort: str = "",
) -> Chat:
    stream: Any = import_module(access.provider).AsyncStream
    # Most compatible servers know only the old field name; only they send thinking.
    elsewhere = access.provider == "openai" and access.base_url is not None
    limit = "max_tokens" if elsewhere else "max_completion_tokens"
    optional: JsonObject = {limit: reply_tokens, **reasoning_effort(effort)}
    completions = Completions(
        access.provider, name, client, stream[object], price, optional, returns_reasoning=elsewhere
    )
    return Chat(completions, price, probe)
