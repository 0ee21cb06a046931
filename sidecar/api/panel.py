"""The panel: the built files of `frontend/`, served as they are. Nothing here knows what they do."""

import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from sidecar.api.problems import problem

_HERE = Path(__file__).resolve().parent
#: In a clone the panel is where it was built; a wheel carries it.
PLACES = (_HERE.parents[1] / "frontend" / "dist", _HERE / "dist")

# What a system believes a file's media type to be can be changed by any program; with nosniff it must be right.
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
The sidecar is running, but its panel has not been built.

  make panel        builds it (needs Node.js 20.19 or newer), then load this page again
  brain run "…"     runs a task in the terminal, without the panel
  /openapi.json     says what can be called
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
                # The name holds a hash of the content, so it never means anything else.
                headers = {"Cache-Control": "public, max-age=31536000, immutable"}
                return FileResponse(file, media_type=media_type, headers=headers)
    return problem(404, "not_found", f"The panel has no file {name[:200]}. Load the page again.")
