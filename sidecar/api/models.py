"""The models: which there are, which servers run on this machine, whether one answers, and who plays a role."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.bodies import answer, read
from sidecar.config.settings import SettingsError
from sidecar.engine.errors import OperationRefused
from sidecar.models.access import is_local
from sidecar.models.catalog import Catalog
from sidecar.models.errors import BadChoice
from sidecar.models.selection import Selection
from sidecar.wire.models import ModelTestRequest, UseRequest


class ModelRoutes:
    def __init__(self, catalog: Catalog, selection: Selection) -> None:
        self._catalog = catalog
        self._selection = selection
        self._searching = asyncio.Lock()

    async def list(self, request: Request) -> Response:
        return answer(self._catalog.list())

    async def local(self, request: Request) -> Response:
        """Only when somebody asks, and one search at a time."""
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
        return answer(await self._catalog.check_model(wanted.model, wanted.base_url))

    async def use(self, request: Request) -> Response:
        wanted = await read(request, UseRequest)
        try:
            return answer(await self._selection.use(wanted))
        except BadChoice as error:
            raise OperationRefused(422, "bad_choice", str(error)) from error
        except SettingsError as error:
            raise OperationRefused(409, "settings_not_written", str(error)) from error
