"""S2: an editor's WebSocket took any Origin. Here a stranger is refused before the connection is accepted."""

import json
from collections.abc import Iterator

import pytest
from websockets.exceptions import InvalidStatus
from websockets.http11 import Response

from tests.e2e.bridge import raw_shell
from tests.e2e.support import RunningSidecar, running_sidecar


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSidecar]:
    with running_sidecar(tmp_path_factory.mktemp("bridge")) as running:
        yield running


def refusal(sidecar: RunningSidecar, query: str = "", **options: object) -> Response:
    with pytest.raises(InvalidStatus) as refused, raw_shell(sidecar, query, **options):
        pytest.fail("The connection was accepted.")
    return refused.value.response


def test_s02_no_token_is_refused_before_the_connection_is_accepted(sidecar: RunningSidecar) -> None:
    answer = refusal(sidecar, additional_headers={})
    assert answer.status_code == 401
    assert b"unauthenticated" in (answer.body or b"")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "Content-Security-Policy" in answer.headers


@pytest.mark.parametrize("token", ["", "wrong", "Bearer", "é" * 10])
def test_s02_a_wrong_token_is_refused(sidecar: RunningSidecar, token: str) -> None:
    header = f"Bearer {token}".encode().decode("latin-1")
    assert refusal(sidecar, additional_headers={"Authorization": header}).status_code == 401


@pytest.mark.parametrize(
    "origin",
    ["http://evil.com", "null", "https://127.0.0.1.nip.io", "http://127.0.0.1:1", "file://", "vscode-webview://x"],
)
def test_s02_an_evil_origin_is_refused_with_a_valid_token(sidecar: RunningSidecar, origin: str) -> None:
    assert refusal(sidecar, origin=origin).status_code == 403


def test_s02_an_evil_origin_is_refused_with_a_valid_ticket_which_is_not_used_up_by_it(sidecar: RunningSidecar) -> None:
    ticket = sidecar.post("/api/brain/bridge/ticket").json["ticket"]
    evil = refusal(sidecar, f"?ticket={ticket}", additional_headers={}, origin="http://evil.com")
    assert evil.status_code == 403
    with raw_shell(sidecar, f"?ticket={ticket}", additional_headers={}) as shell:
        shell.hello("read_file")


def test_s02_our_own_origin_is_let_in(sidecar: RunningSidecar) -> None:
    with raw_shell(sidecar, origin=sidecar.url) as shell:
        shell.hello("read_file")


@pytest.mark.parametrize("host", ["evil.com", "127.0.0.1.nip.io", "0.0.0.0:{port}", "127.0.0.1", "127.0.0.1:1"])
def test_s02_a_host_that_is_not_ours_is_refused(sidecar: RunningSidecar, host: str) -> None:
    header = {"Host": host.format(port=sidecar.port), "Authorization": f"Bearer {sidecar.token}"}
    assert refusal(sidecar, additional_headers=header).status_code == 400


def test_s02_a_ticket_lets_in_once(sidecar: RunningSidecar) -> None:
    made = sidecar.post("/api/brain/bridge/ticket").json
    assert made["expiresIn"] == 30
    with raw_shell(sidecar, f"?ticket={made['ticket']}", additional_headers={}) as shell:
        shell.hello("read_file")
    assert refusal(sidecar, f"?ticket={made['ticket']}", additional_headers={}).status_code == 401


@pytest.mark.parametrize(
    "query", ["?ticket=", "?ticket=wrong", "?ticket=a&ticket=b", "?token={token}", "?ticket={token}"]
)
def test_s02_what_is_no_ticket_lets_no_one_in(sidecar: RunningSidecar, query: str) -> None:
    assert refusal(sidecar, query.format(token=sidecar.token), additional_headers={}).status_code == 401


def test_s02_a_ticket_is_for_the_bridge_alone(sidecar: RunningSidecar) -> None:
    assert sidecar.post("/api/brain/bridge/ticket", authenticated=False).status == 401
    ticket = sidecar.post("/api/brain/bridge/ticket").json["ticket"]
    assert sidecar.get(f"/api/brain/status?ticket={ticket}", authenticated=False).status == 401
    assert sidecar.get(f"/api/brain/bridge?ticket={ticket}", authenticated=False).status == 401


def test_s02_another_subprotocol_is_refused(sidecar: RunningSidecar) -> None:
    refused = refusal(sidecar, subprotocols=["rainy.bridge.v0"])
    assert refused.status_code == 400
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.body and json.loads(refused.body)["code"] == "unknown_subprotocol"


def test_s02_no_ticket_and_no_token_stands_in_the_log(sidecar: RunningSidecar) -> None:
    ticket = sidecar.post("/api/brain/bridge/ticket").json["ticket"]
    with raw_shell(sidecar, f"?ticket={ticket}", additional_headers={}) as shell:
        shell.hello("read_file")
    refusal(sidecar, f"?ticket={ticket}", additional_headers={})
    log = sidecar.log_file.read_text()
    assert ticket not in log and sidecar.token not in log


def test_s02_a_plain_request_is_told_to_upgrade(sidecar: RunningSidecar) -> None:
    answer = sidecar.get("/api/brain/bridge")
    assert answer.status == 426 and answer.json["code"] == "upgrade_required"
