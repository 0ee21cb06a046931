"""The application: the routes behind the guard."""

from collections.abc import Collection, Mapping

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp

from sidecar.api import panel
from sidecar.api.guard import BRIDGE_PATH, Guard
from sidecar.api.problems import answer_exception, invalid, problem
from sidecar.api.routes import TABLE, Endpoint
from sidecar.api.tickets import Tickets


def build(
    endpoints: Mapping[str, Endpoint],
    bridge: ASGIApp,
    *,
    token: str,
    tickets: Tickets,
    hosts: Collection[str],
    origins: Collection[str],
    max_body: int,
) -> Starlette:
    guard = Middleware(Guard, token=token, tickets=tickets, hosts=hosts, origins=origins, max_body=max_body)
    routes = [Route(item.path, _guarded(endpoints[item.name]), methods=[item.method]) for item in TABLE]
    shells = [WebSocketRoute(BRIDGE_PATH, bridge), Route(BRIDGE_PATH, no_upgrade, methods=["GET"])]
    return Starlette(
        routes=[*routes, *shells, *panel.routes()],
        middleware=[guard],
        exception_handlers={404: answer_exception, 405: answer_exception},
    )


def _guarded(endpoint: Endpoint) -> Endpoint:
    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except ValidationError as error:
            return invalid(error)
        except Exception as error:
            return await answer_exception(request, error)

    return answered


async def no_upgrade(request: Request) -> Response:
    detail = "This is the bridge for desktop shells: connect to it with a WebSocket."
    return problem(426, "upgrade_required", detail, headers={"Upgrade": "websocket", "Connection": "Upgrade"})


async def openapi(request: Request) -> Response:
    from sidecar.api.openapi import document

    return JSONResponse(document())
