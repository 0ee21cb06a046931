"""Whatever an SDK raises becomes a failure; what cannot be understood in it is no reason to fail once more."""

import random
from typing import Any

import pytest

from sidecar.models.failures import lacks_tools, refusal_text, thinking_is_bound, to_failure

NAMES = ("error", "message", "code", "type", "status", "details", "reason", "@type", "retryDelay", "detail")
ODD = (None, "", 0, -1, 429, True, "x", "\ud800", "context length", [], {}, float("inf"), 10**40, b"x")
STATUSES = (200, 204, 301, 400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 503, 529, 999)
HEADERS = ("1", "x", "", "-5", "1e400", "Wed, 21 Oct 2199 07:28:00 GMT", "Wed, 99 Oct")


class Raised(Exception):
    """As an SDK's error: what it holds is set from outside."""

    def __init__(self, **holds: Any) -> None:
        super().__init__("boom")
        self.__dict__.update(holds)


class Answered:
    def __init__(self, headers: dict[str, str]) -> None:
        self.headers = headers


def _odd(by: random.Random, depth: int = 0) -> Any:
    kind = by.random()
    if depth > 3 or kind < 0.5:
        return by.choice(ODD)
    if kind < 0.65:
        return [_odd(by, depth + 1) for _ in range(by.randrange(3))]
    return {by.choice(NAMES): _odd(by, depth + 1) for _ in range(by.randrange(5))}


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_raised_is_a_failure_with_a_code_and_a_sentence(seed: int) -> None:
    by = random.Random(seed)
    for _ in range(3_000):
        holds = {name: _odd(by) for name in ("body", "details", "code", "message") if by.random() < 0.6}
        headers = {name: by.choice(HEADERS) for name in ("retry-after", "retry-after-ms") if by.random() < 0.5}
        error = Raised(**holds, status_code=by.choice((*STATUSES, None)), response=Answered(headers))
        failure = to_failure(error, "somebody", "small")
        assert failure.code and failure.message.isprintable() and failure.to_json()
        assert isinstance(lacks_tools(error) or thinking_is_bound(error), bool) and isinstance(refusal_text(error), str)
