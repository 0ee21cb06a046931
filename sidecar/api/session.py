"""Sessions: one-time codes that open the panel, tickets for the bridge, and renewals after a restart."""

import asyncio
import secrets
import time
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from sidecar.api.requests import answer, read
from sidecar.config.data_dir import RenewalKeys
from sidecar.config.paths import redirect_file
from sidecar.config.proofs import TOKEN_ID, new_nonce, panel_proof, same, server_proof
from sidecar.engine.errors import OperationRefused
from sidecar.wire.session import Challenge, ChallengeAnswer, Proof, SessionCode, SessionRequest, SessionToken, Ticket

CODE_SECONDS = 60.0
TICKET_SECONDS = 30.0
PROOF_SECONDS = 30.0
MAX_SECRETS = 100


class OneTimeSecrets:
    """Secrets that work once and expire. Lookup is by hash, never by comparing characters."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._valid_until: OrderedDict[str, float] = OrderedDict()

    def create(self) -> str:
        secret = secrets.token_urlsafe(24)
        self._valid_until[secret] = time.monotonic() + self._seconds
        while len(self._valid_until) > MAX_SECRETS:
            self._valid_until.popitem(last=False)
        return secret

    def redeem(self, secret: str) -> bool:
        return time.monotonic() <= self._valid_until.pop(secret, float("-inf"))


class Challenges:
    """Nonces that were handed out and wait for a panel's proof; each works once."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, tuple[str, str, float]] = OrderedDict()

    def create(self, key_id: str, asked: str) -> str:
        nonce = new_nonce()
        self._waiting[nonce] = (key_id, asked, time.monotonic() + PROOF_SECONDS)
        while len(self._waiting) > MAX_SECRETS:
            self._waiting.popitem(last=False)
        return nonce

    def redeem(self, key_id: str, nonce: str) -> str | None:
        """The panel's own nonce, if this one was made for the same key."""
        for_id, asked, until = self._waiting.pop(nonce, ("", "", float("-inf")))
        return asked if for_id == key_id and time.monotonic() <= until else None


class SessionRoutes:
    """`authority` is host and port of the sidecar's own address; a proof for another one doesn't count."""

    def __init__(self, token: str, keys: RenewalKeys, data_dir: Path, authority: str) -> None:
        self._token = token
        self._keys = keys
        self._data_dir = data_dir
        self._authority = authority
        self._codes = OneTimeSecrets(CODE_SECONDS)
        self._challenges = Challenges()
        #: A webview can't send a header with a WebSocket; it puts a ticket into the URL instead.
        self.tickets = OneTimeSecrets(TICKET_SECONDS)

    def sweep(self) -> None:
        """Remove redirect files of an earlier life; their codes are void."""
        for file in self._data_dir.glob("open-*.html"):
            file.unlink(missing_ok=True)

    async def create_code(self, request: Request) -> Response:
        code = self._codes.create()
        asyncio.get_running_loop().call_later(CODE_SECONDS, self._remove_redirect, code)
        return answer(SessionCode(code=code, expires_in=CODE_SECONDS))

    async def create_ticket(self, request: Request) -> Response:
        return answer(Ticket(ticket=self.tickets.create(), expires_in=TICKET_SECONDS))

    async def create_renewal(self, request: Request) -> Response:
        return answer(self._keys.issue())

    async def trade(self, request: Request) -> Response:
        given = await read(request, SessionRequest)
        if not self._codes.redeem(given.code):
            message = "This code is unknown, already used, or older than 60 seconds. `brain open` creates a new one."
            raise OperationRefused(401, "bad_code", message)
        self._remove_redirect(given.code)
        return answer(SessionToken(token=self._token, renewal=self._keys.issue()))

    async def challenge(self, request: Request) -> Response:
        """The sidecar proves that it knows the key before the panel sends anything secret."""
        given = await read(request, Challenge)
        if given.id == TOKEN_ID:
            key, nonce = self._token, new_nonce()
        else:
            known = self._keys.find(given.id)
            if known is None:
                raise _not_renewed()
            key, nonce = known, self._challenges.create(given.id, given.nonce)
        proof = server_proof(key, self._authority, given.id, given.nonce, nonce)
        return answer(ChallengeAnswer(nonce=nonce, proof=proof))

    async def renew(self, request: Request) -> Response:
        given = await read(request, Proof)
        asked, key = self._challenges.redeem(given.id, given.nonce), self._keys.find(given.id)
        if asked is None or key is None:
            raise _not_renewed()
        if not same(given.proof, panel_proof(key, self._authority, given.id, asked, given.nonce)):
            raise _not_renewed()
        self._keys.extend(given.id)
        return answer(SessionToken(token=self._token))

    def _remove_redirect(self, code: str) -> None:
        with suppress(OSError):
            redirect_file(self._data_dir, code).unlink(missing_ok=True)


def _not_renewed() -> OperationRefused:
    message = "This session can't be renewed. Sign in again: `brain open` opens the panel with a new code."
    return OperationRefused(401, "not_renewed", message)
