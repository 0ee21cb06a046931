"""Whether a delivery comes from the sender that it names. Compared in constant time, over the raw bytes."""

import hashlib
import hmac
from collections.abc import Mapping

#: How old a delivery may be, and how far ahead its sender's clock.
LINEAR_SECONDS = 60
SLACK_SECONDS = 300
#: No time is later; a number that isn't one fails the comparison.
_LAST_MS = 1e15


class BadSignature(Exception):
    """The message says what to check; it never holds what was expected."""


def check_github(secret: str, headers: Mapping[str, str], body: bytes) -> None:
    """GitHub sends no time: that a delivery acts once is what `deliveries.py` remembers."""
    _compare(f"sha256={_hmac(secret, body)}", headers.get("x-hub-signature-256", ""))


def check_linear(secret: str, headers: Mapping[str, str], body: bytes) -> None:
    _compare(_hmac(secret, body), headers.get("linear-signature", ""))


def check_linear_age(sent_at_ms: object, now: float) -> None:
    """`sent_at_ms` is `webhookTimestamp` of the body, which the signature covers."""
    is_time = isinstance(sent_at_ms, (int, float)) and not isinstance(sent_at_ms, bool) and 0 < sent_at_ms < _LAST_MS
    _check_age(sent_at_ms / 1_000 if is_time else None, now, LINEAR_SECONDS)  # type: ignore[operator]


def check_slack(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> None:
    stamp = headers.get("x-slack-request-timestamp", "")
    signed = b"v0:" + stamp.encode("utf-8", "replace") + b":" + body
    _compare(f"v0={_hmac(secret, signed)}", headers.get("x-slack-signature", ""))
    _check_age(int(stamp) if stamp.isascii() and stamp.isdigit() and len(stamp) < 16 else None, now, SLACK_SECONDS)


def check_plain(secret: str, given: str, prefix: str, body: bytes) -> None:
    """The HMAC-SHA256 of the body in hexadecimal, after a prefix such as `sha256=`."""
    _compare(prefix + _hmac(secret, body), given)


def _hmac(secret: str, signed: bytes) -> str:
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def _compare(expected: str, given: str) -> None:
    if not hmac.compare_digest(expected.encode(), given.encode("utf-8", "replace")):
        raise BadSignature("The signature doesn't match. Check that both sides use the same secret.")


def _check_age(sent_at: float | None, now: float, limit: int) -> None:
    if sent_at is None:
        raise BadSignature("The delivery doesn't say when it was sent.")
    if abs(now - sent_at) > limit:
        raise BadSignature(f"The delivery is more than {limit} s old, or a clock is wrong.")
