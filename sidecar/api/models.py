"""Routes for models and their providers' keys. No route ever returns a key."""

import asyncio
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.requests import answer, read
from sidecar.config.keys import VARIABLES, Keys, looks_like_key
from sidecar.config.settings import SettingsError
from sidecar.engine.errors import OperationRefused
from sidecar.models.access import is_local
from sidecar.models.errors import BadChoice
from sidecar.wire.models import ModelTestRequest, UseRequest
from sidecar.wire.system import KeyInfo, KeyList, KeyRequest

if TYPE_CHECKING:
    from sidecar.models.catalog import Catalog
    from sidecar.models.selection import Selection

#: A locked keyring asks the user, who may be away.
KEYRING_SECONDS = 60.0
NO_KEY = "That isn't a key: it contains spaces or characters that no key has."


class ModelRoutes:
    def __init__(self, catalog: "Catalog", selection: "Selection") -> None:
        self._catalog = catalog
        self._selection = selection
        self._searching = asyncio.Lock()

    async def list(self, request: Request) -> Response:
        return answer(self._catalog.list())

    async def local(self, request: Request) -> Response:
        from sidecar.models.local import find, to_wire

        async with self._searching:
            found = await asyncio.to_thread(find)
        return answer(to_wire(found))

    async def test(self, request: Request) -> Response:
        wanted = await read(request, ModelTestRequest)
        if wanted.base_url and not is_local(wanted.base_url):
            raise OperationRefused(
                422, "not_on_this_machine", f"{wanted.base_url[:200]} is not a server on this machine."
            )
        if wanted.key is not None and not looks_like_key(wanted.key.strip()):
            raise OperationRefused(422, "no_key", NO_KEY)
        key = wanted.key.strip() if wanted.key is not None else None
        return answer(await self._catalog.check_model(wanted.model, wanted.base_url, key))

    async def use(self, request: Request) -> Response:
        wanted = await read(request, UseRequest)
        try:
            return answer(await self._selection.use(wanted))
        except BadChoice as error:
            raise OperationRefused(422, "bad_choice", str(error)) from error
        except SettingsError as error:
            raise OperationRefused(409, "settings_not_written", str(error)) from error


class KeyRoutes:
    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    async def list(self, request: Request) -> Response:
        return self._answer()

    async def set(self, request: Request) -> Response:
        wanted = await read(request, KeyRequest)
        try:
            async with asyncio.timeout(KEYRING_SECONDS):
                await self._change(wanted)
        except TimeoutError:
            detail = "The system's keyring doesn't answer. Unlock it, then check whether the key was stored."
            raise OperationRefused(503, "keyring_does_not_answer", detail) from None
        return self._answer()

    async def _change(self, wanted: KeyRequest) -> None:
        """Works in a thread: the keyring may prompt the user and take a while."""
        provider = wanted.provider
        if provider not in VARIABLES:
            known = ", ".join(VARIABLES)
            raise OperationRefused(404, "unknown_provider", f"Unknown provider {provider[:100]}; choose from {known}.")
        if wanted.key is None:
            if not await asyncio.to_thread(self._keys.remove, provider):
                raise OperationRefused(404, "unknown_key", f"No key for {provider} is stored.")
        elif not looks_like_key(wanted.key.strip()):
            raise OperationRefused(422, "no_key", NO_KEY)
        else:
            await asyncio.to_thread(self._keys.store, provider, wanted.key.strip())

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
