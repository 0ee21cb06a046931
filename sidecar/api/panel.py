"""Serves the built files of the panel (`frontend/`)."""

import base64
import hashlib
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
_IMPORT_MAP = re.compile(rb'<script type="importmap">([^<]{1,20000})</script>')
_NAME = re.compile(r"[\w-][\w.-]{0,200}", re.ASCII)
_NOT_BUILT = """\
The sidecar is running, but its panel isn't built.

  make panel        builds it (needs Node.js 20.19 or newer); then reload this page
  brain run "…"     runs a task in the terminal, without the panel
  /openapi.json     describes the API
"""


def script_hash() -> str:
    """What the policy must allow for the page's import map, the only script inside it; empty if it has none.

    The map holds hashes of the scripts that the page loads later.
    """
    for place in PLACES:
        try:
            found = _IMPORT_MAP.search((place / "index.html").read_bytes())
        except OSError:
            continue
        if found is None:
            return ""
        return f"'sha256-{base64.b64encode(hashlib.sha256(found[1]).digest()).decode()}'"
    return ""


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
