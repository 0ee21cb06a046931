"""Signatures over raw bytes, with the senders' own rules about age."""

import hashlib
import hmac

import pytest

from sidecar.doors.signatures import (
    BadSignature,
    check_github,
    check_linear,
    check_linear_age,
    check_plain,
    check_slack,
)

SECRET = "s3cret"


def _sign(body: bytes, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def test_good_signatures_pass() -> None:
    check_github(SECRET, {"x-hub-signature-256": f"sha256={_sign(b'x')}"}, b"x")
    check_linear(SECRET, {"linear-signature": _sign(b"x")}, b"x")
    check_plain(SECRET, f"sha256={_sign(b'x')}", "sha256=", b"x")
    slack = {"x-slack-request-timestamp": "1000", "x-slack-signature": f"v0={_sign(b'v0:1000:x')}"}
    check_slack(SECRET, slack, b"x", now=1_290)
    check_linear_age(1_000_000, now=1_059)


@pytest.mark.parametrize(
    "given", ["", "sha256=", _sign(b"x"), f"sha256={_sign(b'y')}", f"sha256={_sign(b'x', 'other')}", "ü"]
)
def test_anything_else_is_refused(given: str) -> None:
    with pytest.raises(BadSignature):
        check_github(SECRET, {"x-hub-signature-256": given}, b"x")


@pytest.mark.parametrize("stamp", ["", "abc", "-5", "1" * 400, "99", "2000"])
def test_an_old_future_or_missing_time_is_refused_even_with_a_good_signature(stamp: str) -> None:
    headers = {"x-slack-request-timestamp": stamp, "x-slack-signature": f"v0={_sign(f'v0:{stamp}:x'.encode())}"}
    with pytest.raises(BadSignature):
        check_slack(SECRET, headers, b"x", now=1_000)


@pytest.mark.parametrize("sent_at", [None, "1000000", True, 938_000, 1_062_000, float("nan"), 10**400])
def test_linear_deliveries_are_at_most_a_minute_old(sent_at: object) -> None:
    with pytest.raises(BadSignature):
        check_linear_age(sent_at, now=1_000)
