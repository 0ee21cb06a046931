"""One-time secrets: codes that open the panel, and tickets that let a webview onto the bridge."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.requests import answer, read
from sidecar.config.data_dir import RefreshTokens
from sidecar.engine.errors import OperationRefused
from sidecar.wire.system import SessionCode, SessionRequest, SessionToken, Ticket

CODE_SECONDS = 60.0
TICKET_SECONDS = 30.0
MAX_SECRETS = 100


class OneTimeSecrets:
    """Secrets that work once and expire. Lookup is by hash, never by comparing characters."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._valid_until: OrderedDict[str, float] = OrderedDict()

    def create(self) -> str:
        secret = secrets.token_urlsafe(24)
        self._valid_until[secret] = self._clock() + self._seconds
        while len(self._valid_until) > MAX_SECRETS:
            self._valid_until.popitem(last=False)
        return secret

    def redeem(self, secret: str) -> bool:
        return self._clock() <= self._valid_until.pop(secret, float("-inf"))


class SessionRoutes:
    def __init__(self, token: str, refresh_tokens: RefreshTokens) -> None:
        self._token = token
        self._refresh_tokens = refresh_tokens
        self._codes = OneTimeSecrets(CODE_SECONDS)
        #: A webview can't send a header with a WebSocket; it puts a ticket into the URL instead.
        self.tickets = OneTimeSecrets(TICKET_SECONDS)

    async def create_code(self, request: Request) -> Response:
        return answer(SessionCode(code=self._codes.create(), expires_in=CODE_SECONDS))

    async def create_ticket(self, request: Request) -> Response:
        return answer(Ticket(ticket=self.tickets.create(), expires_in=TICKET_SECONDS))

    async def trade(self, request: Request) -> Response:
        given = await read(request, SessionRequest)
        valid = self._codes.redeem(given.code)
        if self._refresh_tokens.accept(given.code):
            return answer(SessionToken(token=self._token, renewal=given.code))
        if not valid:
            message = "This code is unknown, already used, or older than 60 seconds. `brain open` creates a new one."
            raise OperationRefused(401, "bad_code", message)
        return answer(SessionToken(token=self._token, renewal=self._refresh_tokens.issue()))
