"""S4 and S5: a page of another origin can neither call nor learn the token; nothing in a URL changes where it goes."""

from pathlib import Path

from tests.e2e.support import running_sidecar

EVIL = {"Origin": "https://evil.example"}


def test_s04_a_simple_post_from_another_site_is_refused(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        body = b'{"task": "list the files"}'
        for media_type in ("text/plain", "application/json", "application/x-www-form-urlencoded"):
            headers = {**EVIL, "Content-Type": media_type}
            for authenticated in (True, False):
                answer = sidecar.post("/api/brain/execute", body, headers=headers, authenticated=authenticated)
                assert answer.status in (403, 415)
        assert sidecar.get("/api/brain/tasks").json["tasks"] == []


def test_s04_other_origins_get_no_leave_to_read(tmp_path: Path) -> None:
    with running_sidecar(tmp_path, BRAIN_ALLOWED_ORIGINS="app://editor") as sidecar:
        for origin in (
            "https://evil.example",
            "null",
            f"http://localhost.evil.example:{sidecar.port}",
            "app://editor2",
        ):
            answer = sidecar.get("/api/brain/tasks", headers={"Origin": origin})
            assert answer.status == 403
            assert "access-control-allow-origin" not in answer.headers
        for origin in (f"http://127.0.0.1:{sidecar.port}", f"http://localhost:{sidecar.port}"):
            assert sidecar.get("/api/brain/tasks", headers={"Origin": origin}).status == 200
        listed = sidecar.get("/api/brain/tasks", headers={"Origin": "app://editor"})
        assert listed.headers["access-control-allow-origin"] == "app://editor"
        assert "frame-ancestors 'self' app://editor" in listed.headers["content-security-policy"]
        asked = sidecar.request("OPTIONS", "/api/brain/execute", headers={"Origin": "app://editor"})
        assert asked.status == 204


def test_s05_a_token_in_a_url_is_worth_nothing(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        for query in (
            f"?token={sidecar.token}",
            f"?access_token={sidecar.token}",
            f"?authorization=Bearer%20{sidecar.token}",
        ):
            assert sidecar.get(f"/api/brain/tasks{query}", authenticated=False).status == 401


def test_s07_every_answer_forbids_sniffing_and_inline_script(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        task_id = sidecar.execute("list the files")
        for path in (
            "/health",
            "/",
            "/nowhere",
            "/api/brain/tasks",
            f"/api/brain/tasks/{task_id}/stream",
            "/openapi.json",
        ):
            answer = sidecar.get(path)
            assert answer.headers["x-content-type-options"] == "nosniff", path
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert answer.headers["content-type"].partition(";")[0] != "text/html" or path in ("/",)
