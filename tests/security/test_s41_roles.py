"""S41: other machines need TLS, our public name and a named token, and a token does what its role says.

What is tried here: no TLS, a foreign name, no token, a removed token, and every role at what is beyond it.
"""

import http.client
import json
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sidecar.api.identity import Identity, may_call
from sidecar.api.routes import ROUTES
from sidecar.client.client import Client
from sidecar.client.errors import Refused, Unreachable
from tests.e2e.support import Answer, RunningSidecar, clean_environ, running_sidecar
from tests.e2e.terminal import brain
from tests.waiting import wait_until

NAME = "brain.example"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    place = tmp_path_factory.mktemp("tls")
    cert, key = place / "cert.pem", place / "key.pem"
    subject = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    try:
        subprocess.run(
            [*command, "-days", "2", "-keyout", key, "-out", cert, *subject], check=True, capture_output=True
        )
    except FileNotFoundError:
        pytest.skip("needs openssl")
    return cert, key


class Remote(RunningSidecar):
    """Reached over TLS under its public name, as another machine would."""

    certificate: Path

    def call(self, method: str, path: str, token: str, body: object = None, host: str = NAME) -> Answer:
        context = ssl.create_default_context(cafile=self.certificate)
        context.check_hostname = False
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=context)
        headers = {"Host": host, "Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        with closing(connection):
            connection.request(method, path, json.dumps(body or {}) if method != "GET" else None, headers)
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory, certificate: tuple[Path, Path]) -> Iterator[Remote]:
    place = tmp_path_factory.mktemp("remote")
    (place / "workspace").mkdir()
    options = ["--allow-remote", "--tls-cert", str(certificate[0]), "--tls-key", str(certificate[1])]
    sidecar = Remote(
        place / "data",
        place / "workspace",
        ["--host", "0.0.0.0", *options, "--public-name", NAME],
        clean_environ(place),
    )
    sidecar.certificate = certificate[0]
    sidecar.start()
    yield sidecar
    sidecar.close()


def token_of(remote: Remote, name: str, role: str) -> str:
    ended = brain(
        "tokens", "add", name, "--role", role, "--json", "--data-dir", str(remote.data_dir), environ=remote.environ
    )
    token: str = json.loads(ended.stdout)["token"]
    return token


@pytest.mark.parametrize("missing", ["--allow-remote", "--tls-cert", "--tls-key", "--public-name", "all"])
def test_s41_beyond_loopback_nothing_starts_without_consent_certificate_and_name(
    missing: str, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    given = {
        "--allow-remote": [],
        "--tls-cert": [str(certificate[0])],
        "--tls-key": [str(certificate[1])],
        "--public-name": [NAME],
    }
    words = [word for name, value in given.items() if missing not in (name, "all") for word in (name, *value)]
    ended = brain("serve", "--host", "0.0.0.0", "--port", "0", *words, environ=clean_environ(tmp_path))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "--allow-remote --tls-cert" in ended.stderr


def test_s41_a_certificate_that_does_not_fit_its_key_is_refused_at_the_start(
    certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    options = ["--tls-cert", str(certificate[0]), "--tls-key", str(certificate[0]), "--public-name", NAME]
    ended = brain("serve", "--port", "0", *options, environ=clean_environ(tmp_path))
    assert ended.returncode == 2


def test_s41_strangers_foreign_names_and_removed_tokens_get_nothing(remote: Remote) -> None:
    assert remote.ready["url"] == f"https://{NAME}:{remote.port}"
    alice = token_of(remote, "alice", "look")
    assert remote.call("GET", "/api/brain/tasks", alice).status == 200
    assert remote.call("GET", "/api/brain/tasks", alice, host=f"{NAME}:{remote.port}").status == 200
    assert remote.call("GET", "/api/brain/tasks", alice, host="evil.example").status == 400
    for wrong in ("", "brain_guess", alice[:-1], f"{alice}x", "\xff"):
        assert remote.call("GET", "/api/brain/tasks", wrong).status == 401
    stored = (remote.data_dir / "tokens.json").read_text()
    assert alice not in stored and (remote.data_dir / "tokens.json").stat().st_mode & 0o777 == 0o600
    again = token_of(remote, "alice", "look")
    assert remote.call("GET", "/api/brain/tasks", alice).status == 401
    brain("tokens", "remove", "alice", "--data-dir", str(remote.data_dir), environ=remote.environ)
    assert remote.call("GET", "/api/brain/tasks", again).status == 401
    plain = http.client.HTTPConnection("127.0.0.1", remote.port, timeout=10)
    with closing(plain), pytest.raises(OSError):  # no TLS, no answer
        plain.request("GET", "/health")
        plain.getresponse()


def test_s41_commands_on_the_same_machine_use_it_and_trust_its_certificate_alone(
    remote: Remote, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    listed = brain("tasks", "--json", "--data-dir", str(remote.data_dir), environ=remote.environ)
    assert listed.returncode == 0, listed.stderr
    other = tmp_path / "other.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subject = ["-subj", f"/CN={NAME}", "-keyout", tmp_path / "key.pem", "-out", other]
    subprocess.run([*command, *subject], check=True, capture_output=True)
    for trusted, is_reached in ((certificate[0], True), (other, False)):
        client = Client(f"https://127.0.0.1:{remote.port}", "no-token", certificate=str(trusted))
        reached = Refused if is_reached else Unreachable
        with pytest.raises(reached):
            client.get("/api/brain/tasks")


def test_s41_each_role_does_what_it_may_and_no_more_and_its_name_is_recorded(remote: Remote) -> None:
    look, work, decide = (token_of(remote, role, role) for role in ("look", "work", "decide"))
    script = [{"text": "a", "calls": [{"tool": "run_command", "args": {"command": "touch x"}}]}, {"text": "done"}]
    options = {"models": remote.script("ask", script), "agentType": "coder", "intent": "edit_code"}
    asking = {"task": "do it", "options": options}
    refused = remote.call("POST", "/api/brain/execute", look, asking)
    assert (refused.status, refused.json["code"]) == (403, "not_allowed")
    task_id = remote.call("POST", "/api/brain/execute", work, asking).json["taskId"]
    approval = {}
    while not approval:
        page = remote.call("GET", f"/api/brain/tasks/{task_id}/events", look).json["events"]
        approval = next((event for event in page if event["type"] == "approval"), {})
    path = f"/api/brain/tasks/{task_id}/approvals/{approval['approvalId']}"
    answer = {"decision": "allow", "scope": "once"}
    for token in (look, work):
        assert remote.call("POST", path, token, answer).status == 403
        assert remote.call("POST", f"/api/brain/tasks/{task_id}/approvals", token, {}).status == 403
        assert remote.call("POST", "/api/brain/trust", token, {"workspace": "/", "trusted": True}).status == 403
        assert remote.call("POST", "/api/brain/grants", token, {}).status == 403
        assert remote.call("POST", "/api/brain/fleet/orders", token, {}).status == 403
    for token in (look, work, decide):
        for own in ("/api/brain/session/code", "/api/brain/bridge/ticket", "/api/brain/session/renewal"):
            assert remote.call("POST", own, token).status == 403
        assert remote.call("PUT", "/api/brain/keys", token, {}).status == 403
        assert remote.call("GET", "/api/brain/bridge", token).status == 403
    assert remote.call("POST", path, decide, answer).status == 200
    assert remote.call("POST", f"/api/brain/tasks/{task_id}/messages", work, {"text": "more"}).status in (202, 409)
    events = remote.call("GET", f"/api/brain/tasks/{task_id}/events", look).json["events"]
    by = {(event["type"], event.get("status") or event.get("state")): event.get("by") for event in events}
    assert by[("status", "queued")] == "work"
    assert by[("approval", "allowed")] == "decide"
    assert "work: POST /api/brain/execute" in remote.log_file.read_text()


def test_s41_a_token_that_only_looks_searches_no_folder_without_tasks(remote: Remote, tmp_path: Path) -> None:
    look, work = token_of(remote, "reader", "look"), token_of(remote, "author", "work")
    (tmp_path / "a.py").write_text("def payroll():\n    return 'CANARY'\n")
    place = str(tmp_path)
    search = {"workspace": place, "query": "payroll"}
    calls: list[tuple[str, str, object]] = [
        ("POST", "/api/brain/memory/search", search),
        ("POST", "/api/brain/memory/search", {**search, "collection": "tasks"}),
        ("POST", "/api/brain/memory/impact", {"workspace": place, "path": "a.py"}),
        ("GET", f"/api/brain/memory?workspace={place}", None),
        ("GET", f"/api/brain/memory/notes?workspace={place}", None),
    ]
    for method, path, body in calls:
        answer = remote.call(method, path, look, body)
        assert (answer.status, answer.json["code"]) == (403, "not_allowed"), path
    options = {"models": remote.script("look", [{"text": "done"}]), "intent": "chat"}
    task = {"task": "hello", "context": {"workspace": place}, "options": options}
    assert remote.call("POST", "/api/brain/execute", work, task).status == 202
    for method, path, body in calls:
        assert remote.call(method, path, look, body).status == 200, path


def test_s41_who_may_not_decide_gives_no_consent_by_words_or_by_auto(remote: Remote) -> None:
    work, decide = token_of(remote, "worker", "work"), token_of(remote, "decider", "decide")
    auto = {"task": "what can you do?", "options": {"approvals": "auto"}}
    project = {"template": "python package", "name": "kit", "options": {"approvals": "auto"}}
    for path, body in (("execute", auto), ("projects", project)):
        refused = remote.call("POST", f"/api/brain/{path}", work, body)
        assert (refused.status, refused.json["code"]) == (403, "not_allowed"), path
    done = remote.call("POST", "/api/brain/execute", decide, auto).json["taskId"]
    for path in ("messages", "fork"):
        told = {"text": "run `touch x`"} if path == "messages" else {"task": "run `touch x`"}
        assert remote.call("POST", f"/api/brain/tasks/{done}/{path}", work, told).status == 403
    command = [{"text": "a", "calls": [{"tool": "run_command", "args": {"command": "touch y"}}]}, {"text": "done"}]
    options = {"models": remote.script("said", command), "agentType": "coder", "intent": "edit_code"}
    ordered = {"task": "run `touch y`", "options": options}
    task_id = remote.call("POST", "/api/brain/execute", work, ordered).json["taskId"]

    def asked() -> bool:
        page = remote.call("GET", f"/api/brain/tasks/{task_id}/events", work).json["events"]
        return any(event["type"] == "approval" for event in page)

    wait_until(asked, what="an approval")
    assert not (remote.workspace / "y").exists()


def test_s41_the_streams_of_a_removed_token_end(remote: Remote) -> None:
    eve = token_of(remote, "eve", "look")
    context = ssl.create_default_context(cafile=remote.certificate)
    context.check_hostname = False
    connection = http.client.HTTPSConnection("127.0.0.1", remote.port, timeout=60, context=context)
    with closing(connection):
        connection.request("GET", "/api/brain/events", headers={"Host": NAME, "Authorization": f"Bearer {eve}"})
        response = connection.getresponse()
        assert response.status == 200 and response.readline()
        brain("tokens", "remove", "eve", "--data-dir", str(remote.data_dir), environ=remote.environ)
        response.read()  # returns only once the stream has ended
    assert "Closed a stream of eve" in remote.log_file.read_text()


def test_s41_tokens_are_kept_across_a_restart_and_roles_hold_on_loopback_too(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        ended = brain(
            *("tokens", "add", "bob", "--role", "look", "--json", "--data-dir", str(sidecar.data_dir)),
            environ=sidecar.environ,
        )
        headers = {"Authorization": f"Bearer {json.loads(ended.stdout)['token']}"}
        sidecar.restart()
        assert sidecar.get("/api/brain/tasks", headers=headers, authenticated=False).status == 200
        refused = sidecar.post("/api/brain/execute", {"task": "x"}, headers=headers, authenticated=False)
        assert refused.status == 403


def test_s41_a_route_that_no_one_thought_of_needs_the_role_that_decides() -> None:
    for route in ROUTES:
        if route.method != "GET":
            assert not may_call(Identity("x", "look"), route.method, f"new_{route.name}")
            assert not may_call(Identity("x", "work"), route.method, f"new_{route.name}")
    allowed = {
        route.name for route in ROUTES if route.method != "GET" and may_call(Identity("x", "look"), "POST", route.name)
    }
    assert allowed == {"route", "policy_explain", "memory_search", "memory_impact"}
