import json

import pytest

from sidecar.acp.rpc import CancelInvoke, Invoke, Outgoing, Resolve, RpcSession


def test_a_call_is_invoked_and_a_notification_has_no_id() -> None:
    session = RpcSession()
    assert session.receive('{"id": "a", "method": "m", "params": {"x": 1}}') == Invoke("a", "m", {"x": 1})
    assert session.receive('{"method": "m"}') == Invoke(None, "m", {})


def test_an_answer_resolves_its_request_once() -> None:
    session = RpcSession()
    request_id, line = session.request("ask", {})
    assert json.loads(line)["method"] == "ask"
    assert session.receive(json.dumps({"id": request_id, "result": 7})) == Resolve(request_id, 7)
    assert session.receive(json.dumps({"id": request_id, "result": 8})) is None


def test_an_error_answer_keeps_its_code() -> None:
    session = RpcSession()
    request_id, _ = session.request("ask", {})
    effect = session.receive(json.dumps({"id": request_id, "error": {"code": -32601, "message": "no"}}))
    assert isinstance(effect, Resolve) and effect.error is not None and effect.error.code == -32601


def test_a_withdrawn_request_ignores_its_late_answer() -> None:
    session = RpcSession()
    request_id, _ = session.request("ask", {})
    withdrawal = session.withdraw(request_id)
    assert withdrawal is not None and json.loads(withdrawal)["params"] == {"requestId": request_id}
    assert session.withdraw(request_id) is None
    assert session.receive(json.dumps({"id": request_id, "result": 1})) is None


def test_the_client_can_cancel_its_request() -> None:
    line = '{"method": "$/cancel_request", "params": {"requestId": 3}}'
    assert RpcSession().receive(line) == CancelInvoke(3)


@pytest.mark.parametrize(
    ("line", "code"),
    [("{", -32700), ("[]", -32600), ('{"method": 1}', -32600), ('{"method": "m", "params": [], "id": {}}', -32600)],
)
def test_what_is_no_call_is_answered_with_an_error(line: str, code: int) -> None:
    effect = RpcSession().receive(line)
    assert isinstance(effect, Outgoing) and json.loads(effect.line)["error"]["code"] == code
