"""Tickets for the bridge: a webview cannot send a header with a WebSocket, so it shows one of these, once."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from sidecar.wire.system import Ticket

TICKET_SECONDS = 30.0
MOST_TICKETS = 100


class Tickets:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._valid_until: OrderedDict[str, float] = OrderedDict()

    def make(self) -> str:
        ticket = secrets.token_urlsafe(24)
        self._valid_until[ticket] = self._clock() + TICKET_SECONDS
        while len(self._valid_until) > MOST_TICKETS:
            self._valid_until.popitem(last=False)
        return ticket

    def redeem(self, ticket: str) -> bool:
        """True once. It is looked up by hash, never compared character by character."""
        return self._clock() <= self._valid_until.pop(ticket, float("-inf"))

    async def endpoint(self, request: Request) -> Response:
        made = Ticket(ticket=self.make(), expires_in=TICKET_SECONDS)
        return Response(made.to_json(), media_type="application/json")
