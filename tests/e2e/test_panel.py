"""The panel as the sidecar serves it, and the way in that outlasts a restart."""

from pathlib import Path

import pytest
from starlette.requests import Request

from sidecar.api import panel
from tests.e2e.support import RunningSidecar

BUILT = any((place / "index.html").is_file() for place in panel.PLACES)
built = pytest.mark.skipif(not BUILT, reason="the panel is not built; `make panel` builds it")


@built
def test_the_page_is_open_to_everybody_on_this_machine_and_is_never_kept(sidecar: RunningSidecar) -> None:
    page = sidecar.get("/", authenticated=False)
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["cache-control"] == "no-cache"
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    assert b"<script>" not in page.body
    assert b"style=" not in page.body


@built
def test_its_files_are_kept_for_good_with_the_right_media_types(sidecar: RunningSidecar) -> None:
    place = next(place for place in panel.PLACES if (place / "index.html").is_file())
    media_types = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
    for file in (place / "assets").iterdir():
        answer = sidecar.get(f"/assets/{file.name}", authenticated=False)
        assert answer.status == 200
        assert answer.headers["content-type"].startswith(media_types[file.suffix])
        assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../index.html",
        "/assets/..%2f..%2f..%2fpyproject.toml",
        "/assets/%2e%2e/package.json",
        "/assets/.hidden.js",
        "/assets/index.html",
        "/assets/a%00.js",
        "/assets/" + "a" * 5000 + ".js",
        "/pyproject.toml",
    ],
)
def test_nothing_else_is_served(path: str, sidecar: RunningSidecar) -> None:
    assert sidecar.get(path, authenticated=False).status in (400, 404)


async def test_without_a_build_it_says_how_to_make_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(panel, "PLACES", (tmp_path,))
    index = next(route for route in panel.routes() if route.path == "/")
    answer = await index.endpoint(Request({"type": "http"}))
    assert answer.headers["content-type"].startswith("text/plain")
    assert b"make panel" in answer.body


def test_a_used_code_is_refused_and_a_reloaded_panel_gets_another_renewal(sidecar: RunningSidecar) -> None:
    code = sidecar.post("/api/brain/session/code").json["code"]
    first = sidecar.post("/api/brain/session", {"code": code}, authenticated=False).json
    assert first["token"] == sidecar.token
    assert sidecar.post("/api/brain/session", {"code": code}, authenticated=False).status == 401
    assert sidecar.post("/api/brain/session/renewal").json["id"] != first["renewal"]["id"]
    assert sidecar.post("/api/brain/session/renewal", authenticated=False).status == 401
