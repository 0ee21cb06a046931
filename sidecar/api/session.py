"""One-time codes: the panel is opened with a code in the URL's fragment, and trades it for the token, once."""

import secrets
import time
from collections import OrderedDict

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.bodies import answer, read
from sidecar.config.data_dir import RefreshTokens
from sidecar.engine.errors import OperationRefused
from sidecar.wire.system import SessionCode, SessionRequest, SessionToken

CODE_SECONDS = 60.0
MOST_CODES = 100


class SessionRoutes:
    def __init__(self, token: str, refresh_tokens: RefreshTokens) -> None:
        self._token = token
        self._refresh_tokens = refresh_tokens
        self._codes: OrderedDict[str, float] = OrderedDict()

    def new_code(self) -> str:
        code = secrets.token_urlsafe(24)
        self._codes[code] = time.monotonic() + CODE_SECONDS
        while len(self._codes) > MOST_CODES:
            self._codes.popitem(last=False)
        return code

    async def make_code(self, request: Request) -> Response:
        return answer(SessionCode(code=self.new_code(), expires_in=CODE_SECONDS))

    async def trade(self, request: Request) -> Response:
        given = await read(request, SessionRequest)
        # The code is the secret: it is looked up by hash, never compared character by character.
        valid_until = self._codes.pop(given.code, 0.0)
        if self._refresh_tokens.accept(given.code):
            return answer(SessionToken(token=self._token, renewal=given.code))
        if time.monotonic() > valid_until:
            message = "The code is unknown, used or older than 60 seconds. `brain open` makes a new one."
            raise OperationRefused(401, "bad_code", message)
        return answer(SessionToken(token=self._token, renewal=self._refresh_tokens.issue()))
