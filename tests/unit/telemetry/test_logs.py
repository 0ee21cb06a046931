"""JSON log lines: one object each, with the context, and without secrets."""

import json
import logging
import sys
from typing import Any

import pytest

from sidecar.telemetry.correlation import Trace, bind
from sidecar.telemetry.logs import ACTIVITY, JsonLines, RepeatLimit, log_events
from sidecar.wire.events import MessageEvent, StatusEvent, ToolEvent, UsageEvent
from sidecar.wire.tasks import Status, Usage

CANARY = "sk-ant-api03-canary-canary-canary-0123456789"


@pytest.fixture
def lines() -> Any:
    """The lines that are logged for programs, each as the object that it is."""
    found: list[dict[str, Any]] = []

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = self.format(record)
            assert "\n" not in text
            found.append(json.loads(text))

    handler = Keeper()
    handler.setFormatter(JsonLines())
    logger = logging.getLogger(ACTIVITY)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield found
    logger.removeHandler(handler)
    logger.setLevel(level)


def test_a_line_has_the_context_it_was_logged_in(lines: list[dict[str, Any]]) -> None:
    with bind(Trace("a" * 32), task="t_1", step=1):
        logging.getLogger(ACTIVITY).info("first line\nsecond line")
    (line,) = lines
    assert line["message"] == "first line\nsecond line" and line["level"] == "info"
    assert (line["task"], line["step"], line["request"]) == ("t_1", 1, "a" * 32)
    assert line["at"].endswith("Z")


def test_an_exception_is_part_of_its_line_and_secrets_are_not(lines: list[dict[str, Any]]) -> None:
    try:
        raise ValueError(f"the key is {CANARY}")
    except ValueError:
        logging.getLogger(ACTIVITY).error("failed with %s", CANARY, exc_info=sys.exc_info())
    (line,) = lines
    assert "ValueError" in line["exception"]
    assert CANARY not in json.dumps(line) and "redacted" in line["message"]


def test_events_become_lines_without_what_was_said(lines: list[dict[str, Any]]) -> None:
    tool = ToolEvent(
        call_id="t_1.c",
        tool="write_file",
        status="success",
        args={"path": "a", "content": "private words"},
        summary="private words",
        duration_ms=12.5,
        cached=False,
        executor="local",
    )
    spent = Usage(input_tokens=10, output_tokens=2, cost_usd=0.5)
    usage = UsageEvent(**spent.model_dump(), spent=spent, model="x/y", agent="coder")
    said = MessageEvent(message_id="m", role="assistant", agent="coder", text="private words")
    log_events("t_1", [StatusEvent(status=Status.RUNNING), tool, usage, said])
    assert [line["message"] for line in lines] == ["task running", "tool call", "model request"]
    assert lines[1]["tool"] == "write_file" and lines[1]["durationMs"] == 12.5
    assert lines[2]["tokens"] == {"input": 10, "output": 2, "cached": 0} and lines[2]["agent"] == "coder"
    assert {line["task"] for line in lines} == {"t_1"}
    assert "private words" not in json.dumps(lines)


def test_what_is_logged_again_and_again_is_cut_and_counted() -> None:
    limit = RepeatLimit(most=3, seconds=10)

    def passes(text: str, at: float, name: str = "x") -> str | None:
        record = logging.LogRecord(name, logging.ERROR, "", 0, text, None, None)
        record.created = at
        return record.getMessage() if limit.filter(record) else None

    assert [passes("broken", at / 10) for at in range(6)] == ["broken"] * 3 + [None] * 3
    assert passes("other", 1) == "other"
    assert passes("broken", 11) == "broken (3 more of these were left out)"
    assert passes("broken", 11.5) == "broken"
    # What happened is no repetition.
    assert [passes("tool call", 20, ACTIVITY) for _ in range(9)] == ["tool call"] * 9
