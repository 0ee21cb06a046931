"""Trace context: what is honoured, what is refused, and what a block adds to log lines."""

import pytest

from sidecar.telemetry.correlation import bind, current_fields, current_header, new_trace, parse, span_of, trace_of

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
HEADER = f"00-{TRACE}-{SPAN}-01"


def test_a_valid_header_is_honoured() -> None:
    assert parse(HEADER) == (TRACE, SPAN)
    assert parse(f" {HEADER} ") == (TRACE, SPAN)
    # A later version may have more fields.
    assert parse(f"cc-{TRACE}-{SPAN}-01-what-the-future-brings") == (TRACE, SPAN)


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "nonsense",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-01\r\nX-Evil: 1",
        "0" * 100_000,
    ],
)
def test_anything_else_begins_a_trace_of_its_own(header: str | None) -> None:
    assert parse(header) is None
    assert trace_of("t_1", header) == trace_of("t_1")


def test_a_name_always_gives_the_same_trace_and_span() -> None:
    assert trace_of("t_1") == trace_of("t_1") != trace_of("t_2")
    assert parse(trace_of("t_1").header("call")) == (trace_of("t_1").trace_id, span_of("call"))
    assert new_trace() != new_trace()


def test_a_block_adds_to_the_lines_inside_it_and_to_no_others() -> None:
    assert current_fields() == {} and current_header() is None
    with bind(parse(HEADER), task="t_1"):
        with bind(step=2, agent="coder"), bind(tool="read_file", call="t_1.c"):
            inside = {"task": "t_1", "step": 2, "agent": "coder", "tool": "read_file", "call": "t_1.c"}
            assert current_fields() == {**inside, "request": TRACE}
            assert current_header() == f"00-{TRACE}-{span_of('t_1.c')}-01"
        assert current_fields() == {"task": "t_1", "request": TRACE}
    assert current_fields() == {} and current_header() is None
