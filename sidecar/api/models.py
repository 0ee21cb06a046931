"""Routes for models and their providers' keys. No route ever returns a key."""

import asyncio
from typing import TYPE_CHECKING

from starlette.requests import Request

from sidecar.api.route import route
from sidecar.config.keys import VARIABLES, Keys, looks_like_key
from sidecar.config.settings import SettingsError
from sidecar.engine.errors import OperationRefused
from sidecar.models.access import is_local
from sidecar.models.errors import BadChoice
from sidecar.wire.models import LocalServerList, ModelTest, ModelTestRequest, UseAnswer, UseRequest
from sidecar.wire.system import KeyInfo, KeyList, KeyRequest, ModelList

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

    @route("GET /api/brain/models", "models")
    async def list(self, request: Request) -> ModelList:
        """List models and model roles."""
        return self._catalog.list()

    @route("GET /api/brain/models/local", "local_models")
    async def local(self, request: Request) -> LocalServerList:
        """Find model servers on this machine. Tries the usual ports of Ollama, LM Studio, llama.cpp and vLLM; takes a
        few seconds at most."""
        from sidecar.models.local import find, to_wire

        async with self._searching:
            found = await asyncio.to_thread(find)
        return to_wire(found)

    @route("POST /api/brain/models/test", "test_model")
    async def test(self, request: Request, wanted: ModelTestRequest) -> ModelTest:
        """Test a model with one small request."""
        if wanted.base_url and not is_local(wanted.base_url):
            raise OperationRefused(
                422, "not_on_this_machine", f"{wanted.base_url[:200]} is not a server on this machine."
            )
        if wanted.key is not None and not looks_like_key(wanted.key.strip()):
            raise OperationRefused(422, "no_key", NO_KEY)
        key = wanted.key.strip() if wanted.key is not None else None
        return await self._catalog.check_model(wanted.model, wanted.base_url, key)

    @route("PUT /api/brain/models/use", "use_model", refusals=(409,))
    async def use(self, request: Request, wanted: UseRequest) -> UseAnswer:
        """Choose the model of a role, in your own configuration. Tests the model first. The next task uses it; `back`
        lists the commands that undo the choice."""
        try:
            return await self._selection.use(wanted)
        except BadChoice as error:
            raise OperationRefused(422, "bad_choice", str(error)) from error
        except SettingsError as error:
            raise OperationRefused(409, "settings_not_written", str(error)) from error


class KeyRoutes:
    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    @route("GET /api/brain/keys", "keys")
    async def list(self, request: Request) -> KeyList:
        """List which providers have a key."""
        return self._list()

    @route("PUT /api/brain/keys", "set_key", refusals=(404, 503))
    async def set(self, request: Request, wanted: KeyRequest) -> KeyList:
        """Store or remove a provider's key. Keys go to the system's keyring, or to a private file. The next task uses
        them; no route returns them."""
        try:
            async with asyncio.timeout(KEYRING_SECONDS):
                await self._change(wanted)
        except TimeoutError:
            detail = "The system's keyring doesn't answer. Unlock it, then check whether the key was stored."
            raise OperationRefused(503, "keyring_does_not_answer", detail) from None
        return self._list()

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

    def _list(self) -> KeyList:
        return KeyList(keys=[self._info(provider) for provider in VARIABLES])

    def _info(self, provider: str) -> KeyInfo:
        origin = self._keys.origin(provider)
        return KeyInfo(
            provider=provider,
            place=origin.place if origin else None,
            removable=self._keys.is_stored(provider),
            variables=list(VARIABLES[provider]),
        )
