"""The keys of the model providers: whether there is one, putting one away, taking it out. None is ever told."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.bodies import answer, read
from sidecar.config.keys import VARIABLES, Keys, looks_like_key
from sidecar.engine.errors import OperationRefused
from sidecar.wire.system import KeyInfo, KeyList, KeyRequest

#: A keyring that is locked asks the person, who may have gone.
KEYRING_SECONDS = 60.0


class KeyRoutes:
    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    async def list(self, request: Request) -> Response:
        return self._answer()

    async def set(self, request: Request) -> Response:
        """In a thread: a system's keyring may ask the person, and take its time."""
        wanted = await read(request, KeyRequest)
        try:
            async with asyncio.timeout(KEYRING_SECONDS):
                await self._change(wanted)
        except TimeoutError:
            told = "The system's keyring does not answer. Unlock it, then look whether the key is there."
            raise OperationRefused(503, "keyring_does_not_answer", told) from None
        return self._answer()

    async def _change(self, wanted: KeyRequest) -> None:
        if wanted.provider not in VARIABLES:
            known = ", ".join(VARIABLES)
            raise OperationRefused(
                404, "unknown_provider", f"There is no provider {wanted.provider[:100]}; there are {known}."
            )
        if wanted.key is None:
            if not await asyncio.to_thread(self._keys.remove, wanted.provider):
                raise OperationRefused(404, "unknown_key", f"No key of {wanted.provider} was put away.")
        elif not looks_like_key(wanted.key.strip()):
            raise OperationRefused(422, "no_key", "That is no key: it has spaces or signs in it that no key has.")
        else:
            await asyncio.to_thread(self._keys.store, wanted.provider, wanted.key.strip())

    def _answer(self) -> Response:
        return answer(KeyList(keys=[self._info(provider) for provider in VARIABLES]))

    def _info(self, provider: str) -> KeyInfo:
        origin = self._keys.origin(provider)
        return KeyInfo(
            provider=provider,
            place=origin.place if origin else None,
            removable=self._keys.is_stored(provider),
            variables=list(VARIABLES[provider]),
        )
