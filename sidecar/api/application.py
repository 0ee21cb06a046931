"""The ASGI application: the route table behind the guard. Every answer names its trace in `X-Request-Id`."""

import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterable

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from sidecar.api import panel
from sidecar.api.guard import BRIDGE_PATH, Guard
from sidecar.api.identity import Authenticate, may_call
from sidecar.api.problems import answer_exception, problem
from sidecar.engine.errors import OperationRefused
from sidecar.telemetry.correlation import HEADER, bind, new_trace, parse
from sidecar.telemetry.logs import ACTIVITY, set_actor

_log = logging.getLogger(ACTIVITY)
audit = logging.getLogger("sidecar.audit")
Endpoint = Callable[[Request], Awaitable[Response]]
#: Name, method, path and handler of each route.
Endpoints = Iterable[tuple[str, str, str, Endpoint]]
#: Names of the routes that most requests take.
_USUAL = frozenset({"execute", "task", "stream", "events", "health"})


class LateRoutes(BaseRoute):
    """Stands for all routes that aren't loaded yet: a request that no other route takes waits for them."""

    def __init__(self, load: Callable[[], Awaitable[object]]) -> None:
        self._load = load

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return Match.FULL, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._load()
        except Exception as error:
            refusal = await answer_exception(Request(scope), error)
            await refusal(scope, receive, send)
        else:
            await scope["app"].router(scope, receive, send)


def build(
    endpoints: Endpoints,
    load: Callable[[], Awaitable[object]],
    *,
    authenticate: Authenticate,
    redeem_ticket: Callable[[str], bool],
    hosts: Collection[str],
    origins: Collection[str],
    max_body: int,
    scheme: str = "http",
) -> Starlette:
    """`load` adds the routes that `endpoints` lacks (`complete`)."""
    guard = Middleware(
        Guard,
        authenticate=authenticate,
        redeem_ticket=redeem_ticket,
        hosts=hosts,
        origins=origins,
        max_body=max_body,
        script_hash=panel.script_hash(),
        scheme=scheme,
    )
    return Starlette(
        routes=[*_routes(endpoints), *panel.routes(), LateRoutes(load)],
        middleware=[guard],
        exception_handlers={404: answer_exception, 405: answer_exception},
    )


def complete(app: Starlette, endpoints: Endpoints, bridge: ASGIApp, mcp: ASGIApp) -> None:
    """All routes instead of the first ones."""
    shells = [WebSocketRoute(BRIDGE_PATH, bridge), Route(BRIDGE_PATH, _no_upgrade, methods=["GET"])]
    servers = Route("/mcp", mcp, methods=["GET", "POST", "DELETE"])
    app.router.routes[:] = [*_routes(endpoints), *shells, servers, *panel.routes()]


def _routes(endpoints: Endpoints) -> list[Route]:
    """Each request is compared with one route after the other, so the usual ones come first."""
    ordered = sorted(endpoints, key=lambda endpoint: endpoint[0] not in _USUAL)
    return [Route(path, _with_problems(name, endpoint), methods=[method]) for name, method, path, endpoint in ordered]


def _with_problems(name: str, endpoint: Endpoint) -> Endpoint:
    async def handle(request: Request) -> Response:
        started = time.perf_counter()
        trace = parse(request.headers.get(HEADER)) or new_trace()
        with bind(trace):
            try:
                _check_role(name, request)
                response = await endpoint(request)
            except Exception as error:
                response = await answer_exception(request, error)
            if _log.isEnabledFor(logging.INFO):
                took = round((time.perf_counter() - started) * 1_000, 3)
                fields = {"path": request.url.path, "status": response.status_code, "durationMs": took}
                _log.info("%s request", request.method, extra={"fields": fields})
        response.headers["X-Request-Id"] = trace.trace_id
        return response

    return handle


def _check_role(name: str, request: Request) -> None:
    identity = request.scope["identity"]
    if not identity or not identity.name:
        return
    if not may_call(identity, request.method, name):
        message = (
            f"The role `{identity.role}` of {identity.name} doesn't allow this. Ask for a token with another role."
        )
        raise OperationRefused(403, "not_allowed", message)
    set_actor(identity.name)
    if request.method != "GET":
        audit.info("%s: %s %s", identity.name, request.method, request.url.path)


async def _no_upgrade(request: Request) -> Response:
    detail = "This is the bridge for desktop shells; connect with a WebSocket."
    return problem(426, "upgrade_required", detail, headers={"Upgrade": "websocket", "Connection": "Upgrade"})
