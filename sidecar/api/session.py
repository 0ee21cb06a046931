"""Sessions: one-time codes that open the panel, tickets for the bridge, and renewals after a restart."""

import asyncio
import secrets
import time
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

from starlette.requests import Request

from sidecar.api.route import route
from sidecar.config.data_dir import RenewalKeys
from sidecar.config.paths import redirect_file
from sidecar.config.proofs import TOKEN_ID, new_nonce, panel_proof, same, server_proof
from sidecar.engine.errors import OperationRefused
from sidecar.wire.session import (
    Challenge,
    ChallengeAnswer,
    Proof,
    Renewal,
    SessionCode,
    SessionRequest,
    SessionToken,
    Ticket,
)

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
        """Remove redirect files of an earlier process; their codes are void."""
        for file in self._data_dir.glob("open-*.html"):
            file.unlink(missing_ok=True)

    @route("POST /api/brain/session/code", "session_code")
    async def create_code(self, request: Request) -> SessionCode:
        """Create a one-time code that opens the panel. The code goes into the URL's fragment, which never reaches a
        log."""
        code = self._codes.create()
        asyncio.get_running_loop().call_later(CODE_SECONDS, self._remove_redirect, code)
        return SessionCode(code=code, expires_in=CODE_SECONDS)

    @route("POST /api/brain/bridge/ticket", "bridge_ticket")
    async def create_ticket(self, request: Request) -> Ticket:
        """Create a one-time ticket for the bridge. For a webview, which can't send a header with a WebSocket."""
        return Ticket(ticket=self.tickets.create(), expires_in=TICKET_SECONDS)

    @route("POST /api/brain/session/renewal", "session_renewal")
    async def create_renewal(self, request: Request) -> Renewal:
        """Create a renewal for a panel that was reloaded."""
        return self._keys.issue()

    @route("POST /api/brain/session", "session")
    async def trade(self, request: Request, given: SessionRequest) -> SessionToken:
        """Trade a one-time code for the token. Needs no token. `renewal` is for the panel's memory only: with it, it
        gets back in after a restart."""
        if not self._codes.redeem(given.code):
            message = "This code is unknown, already used, or older than 60 seconds. `brain open` creates a new one."
            raise OperationRefused(401, "bad_code", message)
        self._remove_redirect(given.code)
        return SessionToken(token=self._token, renewal=self._keys.issue())

    @route("POST /api/brain/session/challenge", "session_challenge", refusals=(401,))
    async def challenge(self, request: Request, given: Challenge) -> ChallengeAnswer:
        """Let the sidecar prove that it knows a key. Needs no token; ask this before you send one to an address that
        another program may have taken. A proof is the HMAC-SHA-256, in base64url, of the lines `rainy-brain session 1`,
        `sidecar` (or `panel`), host and port, id, your nonce, the sidecar's nonce."""
        if given.id == TOKEN_ID:
            key, nonce = self._token, new_nonce()
        else:
            known = self._keys.find(given.id)
            if known is None:
                raise _not_renewed()
            key, nonce = known, self._challenges.create(given.id, given.nonce)
        proof = server_proof(key, self._authority, given.id, given.nonce, nonce)
        return ChallengeAnswer(nonce=nonce, proof=proof)

    @route("POST /api/brain/session/proof", "session_proof", refusals=(401,))
    async def renew(self, request: Request, given: Proof) -> SessionToken:
        """Prove that the panel knows its key, and get the token. Needs no token. The nonce of each challenge works
        once."""
        asked, key = self._challenges.redeem(given.id, given.nonce), self._keys.find(given.id)
        if asked is None or key is None:
            raise _not_renewed()
        if not same(given.proof, panel_proof(key, self._authority, given.id, asked, given.nonce)):
            raise _not_renewed()
        self._keys.extend(given.id)
        return SessionToken(token=self._token)

    def _remove_redirect(self, code: str) -> None:
        with suppress(OSError):
            redirect_file(self._data_dir, code).unlink(missing_ok=True)


def _not_renewed() -> OperationRefused:
    message = "This session can't be renewed. Sign in again: `brain open` opens the panel with a new code."
    return OperationRefused(401, "not_renewed", message)
