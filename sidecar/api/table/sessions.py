"""Routes of health and of sessions."""

from collections.abc import Sequence

from sidecar.api.health import HealthRoutes
from sidecar.api.session import SessionRoutes
from sidecar.api.table.route import Route
from sidecar.wire import health, session

SESSIONS: Sequence[Route] = (
    Route(
        "GET /health",
        "health",
        HealthRoutes.health,
        "Whether the sidecar is up",
        health.Health,
        doc="Needs no token and says nothing else.",
    ),
    Route(
        "GET /ready",
        "ready",
        HealthRoutes.ready,
        "Whether the sidecar can take tasks: the journal can be written and its disk has room",
        health.Health,
        refusals=(503,),
        doc="Needs no token. 503 says what is wrong.",
    ),
    Route(
        "POST /api/brain/bridge/ticket",
        "bridge_ticket",
        SessionRoutes.create_ticket,
        "Create a one-time ticket for the bridge",
        session.Ticket,
        doc="For a webview, which can't send a header with a WebSocket.",
    ),
    Route(
        "POST /api/brain/session/code",
        "session_code",
        SessionRoutes.create_code,
        "Create a one-time code that opens the panel",
        session.SessionCode,
        doc="The code goes into the URL's fragment, which never reaches a log.",
    ),
    Route(
        "POST /api/brain/session",
        "session",
        SessionRoutes.trade,
        "Trade a one-time code for the token",
        session.SessionToken,
        session.SessionRequest,
        doc="Needs no token. `renewal` is for the panel's memory only: with it, it gets back in after a restart.",
    ),
    Route(
        "POST /api/brain/session/renewal",
        "session_renewal",
        SessionRoutes.create_renewal,
        "Create a renewal for a panel that was reloaded",
        session.Renewal,
    ),
    Route(
        "POST /api/brain/session/challenge",
        "session_challenge",
        SessionRoutes.challenge,
        "Let the sidecar prove that it knows a key",
        session.ChallengeAnswer,
        session.Challenge,
        refusals=(401,),
        doc=(
            "Needs no token; ask this before you send one to an address that another program may have taken. A proof "
            "is the HMAC-SHA-256, in base64url, of the lines `rainy-brain session 1`, `sidecar` (or `panel`), host and "
            "port, id, your nonce, the sidecar's nonce."
        ),
    ),
    Route(
        "POST /api/brain/session/proof",
        "session_proof",
        SessionRoutes.renew,
        "Prove that the panel knows its key, and get the token",
        session.SessionToken,
        session.Proof,
        refusals=(401,),
        doc="Needs no token. The nonce of each challenge works once.",
    ),
)
