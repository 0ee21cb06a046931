"""A model over Chat Completions that may know no tools. That is found out by the server's refusal, or said by it when
it is asked; from then on the model is driven by a JSON schema."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from sidecar.models.completions import Completions
from sidecar.models.failures import lacks_tools
from sidecar.models.local import LocalModel
from sidecar.models.plain import Plain
from sidecar.models.port import Delta, Reply, Request
from sidecar.models.prices import Price

#: What a token is of ordinary text and code. More than the server holds by this count is refused here, because some
#: servers cut it off without a word.
BYTES_A_TOKEN = 4

#: Asks a local server how much it can hold and whether its model knows tools. It is told whether the model must be
#: loaded by now.
Probe = Callable[[bool], Awaitable[LocalModel]]


class Chat:
    def __init__(self, completions: Completions, price: Price | None, probe: Probe | None = None) -> None:
        self._probe = probe
        self._completions = completions
        self._plain = Plain(completions, price)
        self._with_tools: bool | None = None
        self._asked_again = False

    async def parts(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        if self._with_tools is None:
            self._with_tools = await self._ask_the_server(loaded=False)
        elif not self._asked_again and self._completions.most_bytes is None:
            # Some can say it only once the model is loaded, as it now is.
            self._asked_again = True
            await self._ask_the_server(loaded=True)
        dialect = self._plain if request.tools and not self._with_tools else self._completions
        try:
            async with aclosing(dialect.parts(request)) as parts:
                async for part in parts:
                    yield part
        except Exception as error:
            if not request.tools or dialect is self._plain or not lacks_tools(error):
                raise
            self._with_tools = False
            async with aclosing(self._plain.parts(request)) as parts:
                async for part in parts:
                    yield part

    async def _ask_the_server(self, *, loaded: bool) -> bool:
        """Whether tools may be offered."""
        if self._probe is None:
            return True
        found = await self._probe(loaded)
        if found.context_tokens is not None:
            self._completions.most_bytes = found.context_tokens * BYTES_A_TOKEN
        return found.tools is not False
