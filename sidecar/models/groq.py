"""Groq, over its own SDK, in the Chat Completions dialect."""

from typing import Any

from sidecar.models.access import Access
from sidecar.models.completions import Completions, reasoning_effort
from sidecar.models.plain import Chat
from sidecar.models.prices import Price
from sidecar.wire.base import JsonObject

PROVIDER = "groq"


def client(access: Access) -> Any:
    from groq import AsyncGroq, DefaultAsyncHttpxClient, Timeout

    timeout = Timeout(access.timeout, connect=access.connect_timeout)
    http = DefaultAsyncHttpxClient(timeout=timeout, **access.http)
    return AsyncGroq(api_key=access.key, base_url=access.base_url, max_retries=0, timeout=timeout, http_client=http)


def dialect(name: str, client: Any, price: Price | None, reply_tokens: int, effort: str = "") -> Chat:
    from groq import AsyncStream

    optional: JsonObject = {"max_completion_tokens": reply_tokens, **reasoning_effort(effort)}
    return Chat(Completions(PROVIDER, name, client, AsyncStream[object], price, optional), price)
