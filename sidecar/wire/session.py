"""Sessions: one-time codes, renewals, proofs and tickets."""

from typing import Annotated, Literal

from pydantic import Field

from sidecar.wire.base import Wire, optional
from sidecar.wire.tasks import ShortText


class SessionCode(Wire):
    code: str
    expires_in: float


class SessionRequest(Wire):
    code: ShortText


class Renewal(Wire):
    """A secret between one panel and the sidecar. It is never sent again: each side proves that it knows it."""

    id: str
    key: str


class SessionToken(Wire):
    token: str
    renewal: Annotated[Renewal | None, Field(description="For the new token after a restart of the sidecar.")] = (
        optional()
    )


Nonce = Annotated[str, Field(min_length=22, max_length=100, pattern=r"^[\w-]+$")]


class Challenge(Wire):
    id: Annotated[Nonce | Literal["token"], Field(description="The renewal's id, or `token` for the token itself.")]
    nonce: Nonce


class ChallengeAnswer(Wire):
    nonce: Annotated[str, Field(description="The sidecar's nonce.")]
    proof: Annotated[str, Field(description="Shows that the sidecar knows the key.")]


class Proof(Wire):
    id: Nonce
    nonce: Annotated[Nonce, Field(description="The sidecar's nonce, which works once.")]
    proof: ShortText


class Ticket(Wire):
    """Opens one WebSocket without an Authorization header."""

    ticket: str
    expires_in: float
