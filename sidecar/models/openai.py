"""OpenAI, and every server that speaks its Chat Completions: Ollama, LM Studio, llama.cpp, vLLM.

A model that cannot be offered tools is found out by the server's refusal, and from then on driven by a JSON schema. A
local server is asked how much it can hold, because some cut off silently what is more than that.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from sidecar.models.access import FOLLOW_REDIRECTS, Access
from sidecar.models.completions import Completions
from sidecar.models.failures import lacks_tools
from sidecar.models.local import LocalModel
from sidecar.models.plain import Plain
from sidecar.models.port import Delta, Reply, Request
from sidecar.models.prices import Price

PROVIDER = "openai"
#: What a token is of ordinary text and code. More than the server holds by this count is refused here, because some
#: servers cut it off without a word.
BYTES_A_TOKEN = 4


def client(access: Access) -> Any:
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

    # A local server needs no key, but the SDK does.
    key = access.key or "none"
    timeout = Timeout(access.timeout, connect=access.connect_timeout)
    http = DefaultAsyncHttpxClient(timeout=timeout, follow_redirects=FOLLOW_REDIRECTS)
    return AsyncOpenAI(api_key=key, base_url=access.base_url, max_retries=0, timeout=timeout, http_client=http)


class Chat:
    def __init__(
        self,
        name: str,
        client: Any,
        price: Price | None,
        reply_tokens: int,
        access: Access,
        probe: Callable[[], LocalModel] | None,
    ) -> None:
        from openai import AsyncStream

        self._probe = probe
        # Only OpenAI itself takes the new name of this field; all others know the old one.
        limit = "max_tokens" if access.base_url else "max_completion_tokens"
        self._completions = Completions(PROVIDER, name, client, AsyncStream[object], price, {limit: reply_tokens})
        self._plain = Plain(self._completions, price)
        self._with_tools: bool | None = None

    async def parts(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        if self._with_tools is None:
            await self._ask_the_server()
        if request.tools and not self._with_tools:
            async with aclosing(self._plain.parts(request)) as parts:
                async for part in parts:
                    yield part
            return
        try:
            async with aclosing(self._completions.parts(request)) as parts:
                async for part in parts:
                    yield part
        except Exception as error:
            if not request.tools or not lacks_tools(error):
                raise
            self._with_tools = False
            async with aclosing(self._plain.parts(request)) as parts:
                async for part in parts:
                    yield part

    async def _ask_the_server(self) -> None:
        self._with_tools = True
        if self._probe is not None:
            found = await asyncio.to_thread(self._probe)
            if found.context_tokens is not None:
                self._completions.most_bytes = found.context_tokens * BYTES_A_TOKEN
            self._with_tools = found.tools is not False
