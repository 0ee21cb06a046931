"""Thousands of made-up requests to the real process: each is answered, none with a failure, and it goes on."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.e2e.support import RunningSidecar, running_sidecar
from tests.faults.scale import scaled
from tests.waiting import SECONDS

ROUTES = [
    "/api/brain/execute",
    "/api/brain/tools/batch",
    "/api/brain/trust",
    "/api/brain/policy/explain",
    "/api/brain/route",
    "/api/brain/tasks/x/messages",
    "/api/brain/tasks/x/approvals/y",
    "/api/brain/tasks/x/rewind",
    "/api/brain/tasks?limit=%s",
    "/api/brain/tasks/%s",
    "/api/brain/stream/%s?after=x",
    "/api/brain/%s",
    "/%s",
]
NAMES = "task context options calls tool args workspace approvals command path text x".split()  # noqa: SIM905
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(allow_nan=True),
        st.text(max_size=12),
        st.sampled_from(["run_command", "read_file", "auto", "/", "..", "\udcff", "a" * 5_000]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(NAMES), inner, max_size=6)),
    max_leaves=14,
)
BODIES = st.one_of(
    VALUES.map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=200),
    st.tuples(VALUES, st.integers(0, 60)).map(lambda pair: json.dumps(pair[0]).encode()[: pair[1]]),
    st.integers(1, 3_000).map(lambda depth: b"[" * depth),
)
KINDS = ["application/json", "application/json; charset=utf-16", "text/plain", "", "application/json\x0b"]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSidecar]:
    place: Path = tmp_path_factory.mktemp("fuzz")
    with running_sidecar(place, BRAIN_MAX_QUEUED="1") as sidecar:
        yield sidecar


@settings(
    max_examples=scaled(150, 10_000),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    st.sampled_from(["POST", "GET", "PUT", "DELETE", "PATCH"]),
    st.sampled_from(ROUTES),
    st.text(st.characters(codec="ascii", exclude_characters=" \r\n\x7f", min_codepoint=33), max_size=20),
    BODIES,
    st.sampled_from(KINDS),
    st.booleans(),
)
def test_every_request_is_answered_and_none_with_a_failure(
    running: RunningSidecar, method: str, route: str, name: str, body: bytes, kind: str, known: bool
) -> None:
    headers = {"Authorization": f"Bearer {running.token}"} if known else {}
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=SECONDS)
    try:
        connection.request(
            method, route % name if "%s" in route else route, body, {**headers, "Content-Type": kind.strip("\x0b")}
        )
        answer = connection.getresponse()
        # Streams have no end of their own; all others are read to theirs.
        said = b"" if answer.headers.get_content_type() == "text/event-stream" else answer.read()
    finally:
        connection.close()
    assert answer.status < 500 or answer.status == 503, (answer.status, said[:500])
    if not known and route.startswith("/api/"):
        assert answer.status in (400, 401, 403, 404, 405, 413, 415), answer.status
    assert running.process is not None and running.process.poll() is None
