"""OpenAI, and every server that speaks its Chat Completions: Ollama, LM Studio, llama.cpp, vLLM."""

from typing import Any

from sidecar.models.access import Access
from sidecar.models.completions import Completions, reasoning_effort
from sidecar.models.plain import Chat, Probe
from sidecar.models.prices import Price
from sidecar.wire.base import JsonObject

PROVIDER = "openai"


def client(access: Access) -> Any:
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

    # The SDK requires a key; a local server doesn't.
    key = access.key or "none"
    timeout = Timeout(access.timeout, connect=access.connect_timeout)
    http = DefaultAsyncHttpxClient(timeout=timeout, **access.http)
    return AsyncOpenAI(api_key=key, base_url=access.base_url, max_retries=0, timeout=timeout, http_client=http)


def dialect(
    name: str,
    client: Any,
    price: Price | None,
    reply_tokens: int,
    access: Access,
    probe: Probe | None,
    effort: str = "",
) -> Chat:
    from openai import AsyncStream

    # Most compatible servers know only the old field name; only they send thinking.
    elsewhere = access.base_url is not None
    limit = "max_tokens" if elsewhere else "max_completion_tokens"
    optional: JsonObject = {limit: reply_tokens, **reasoning_effort(effort)}
    completions = Completions(PROVIDER, name, client, AsyncStream[object], price, optional, returns_reasoning=elsewhere)
    return Chat(completions, price, probe)
