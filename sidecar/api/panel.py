"""Serves the built files of the panel (`frontend/`)."""

import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from sidecar.api.problems import problem

_HERE = Path(__file__).resolve().parent
#: A clone serves the panel from where it is built; a wheel carries it.
PLACES = (_HERE.parents[1] / "frontend" / "dist", _HERE / "dist")

# Not the system's table: any program can change that, and with nosniff the type must be right.
_MEDIA_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_NAME = re.compile(r"[\w-][\w.-]{0,200}", re.ASCII)
_NOT_BUILT = """\
The sidecar is running, but its panel isn't built.

  make panel        builds it (needs Node.js 20.19 or newer); then reload this page
  brain run "…"     runs a task in the terminal, without the panel
  /openapi.json     describes the API
"""


def routes() -> list[Route]:
    return [Route("/", _index, methods=["GET"]), Route("/assets/{name}", _asset, methods=["GET"])]


async def _index(request: Request) -> Response:
    headers = {"Cache-Control": "no-cache"}
    for place in PLACES:
        file = place / "index.html"
        if file.is_file():
            return FileResponse(file, media_type="text/html", headers=headers)
    return PlainTextResponse(_NOT_BUILT, 503, headers)


async def _asset(request: Request) -> Response:
    name: str = request.path_params["name"]
    media_type = _MEDIA_TYPES.get(Path(name).suffix)
    if media_type is not None and _NAME.fullmatch(name):
        for place in PLACES:
            file = place / "assets" / name
            if file.is_file():
                # The name contains a hash of the content, so the file never changes.
                headers = {"Cache-Control": "public, max-age=31536000, immutable"}
                return FileResponse(file, media_type=media_type, headers=headers)
    return problem(404, "not_found", f"The panel has no file {name[:200]}. Reload the page.")
