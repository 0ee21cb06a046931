"""Messages: prose around the JSON of plans and verdicts, and Markdown emphasis."""

import json
import re

import pytest

from sidecar.client.prose import without_json
from sidecar.commands.markdown import emphasize
from sidecar.commands.messages import MessageRenderer
from sidecar.commands.text import Style

PLAN = {"steps": [{"id": "1", "title": "Write it", "files": ["a", "b"]}, {"title": "Test it"}]}
VERDICT = {"passed": False, "summary": "Not yet.", "issues": []}


def test_the_json_of_a_plan_is_left_to_its_event() -> None:
    text = f"I would do it so:\n\n```json\n{json.dumps(PLAN, indent=2)}\n```\nThat is all."
    assert without_json(text) == "I would do it so:\nThat is all."


def test_prose_stays_as_it_is() -> None:
    for text in ("No JSON.", "A { and a }."):
        assert without_json(text) == text


def test_half_a_plan_is_never_shown() -> None:
    renderer = MessageRenderer(Style(colour=False), None)
    text = json.dumps(PLAN, indent=2)
    for part in (text[:20], text[20:]):
        event = {"type": "delta", "messageId": "m", "agent": "planner", "text": part}
        assert renderer.delta(event, from_its_start=True) == []
    assert renderer.message({"messageId": "m", "agent": "planner", "text": text}) == []


def test_a_verdict_interrupted_by_another_event_shows_no_json() -> None:
    renderer = MessageRenderer(Style(colour=False), None)
    text = f"Look:\n{json.dumps(VERDICT)}"
    live = {"type": "delta", "messageId": "m1", "agent": "reviewer", "text": text}
    assert renderer.delta(live, from_its_start=True) == []
    assert renderer.finish() == []
    assert renderer.message({"type": "message", "messageId": "m1", "agent": "reviewer", "text": text}) == ["  Look:"]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("  **`f`** is at `a.py:1`.", "  \x1b[1mf\x1b[0m is at \x1b[36ma.py:1\x1b[0m."),
        ("## What `it` is", "\x1b[1mWhat it is\x1b[0m"),
        ("2 ** 3 ** 4 and a * b", "2 ** 3 ** 4 and a * b"),
        ("an ` alone and **", "an ` alone and **"),
        ("an *idea* of f(*args)", "an \x1b[3midea\x1b[0m of f(*args)"),
        ("- see [the docs](https://a.example/b)", "• see the docs \x1b[2mhttps://a.example/b\x1b[0m"),
        ("> said", "\x1b[2m│\x1b[0m said"),
    ],
)
def test_emphasis_is_shown_where_there_are_colours(line: str, shown: str) -> None:
    assert emphasize(line, Style(colour=True)) == shown
    assert emphasize(line, Style(colour=False)) == line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "Say `brain keys set anthropic` or `a b`.",
            ["  Say \x1b[36mbrain keys set\x1b[0m", "  \x1b[36manthropic\x1b[0m or \x1b[36ma b\x1b[0m."],
        ),
        (
            "> Take **all of these words** now.",
            [
                "  \x1b[2m│\x1b[0m Take \x1b[1mall of\x1b[0m",
                "  \x1b[2m│\x1b[0m \x1b[1mthese words\x1b[0m now.",
            ],
        ),
        ("2 ** 3 is a power and 3 ** 2 is another", ["  2 ** 3 is a power", "  and 3 ** 2 is", "  another"]),
    ],
)
def test_emphasis_goes_on_in_the_next_row(text: str, shown: list[str]) -> None:
    renderer = MessageRenderer(Style(colour=True), 23)
    assert renderer.message({"type": "message", "messageId": "m1", "agent": "coder", "text": text}) == shown


TABLE = "Checks:\n\n| check | result |\n| --- | --- |\n| `tests` | 2 passed |\n| 型 | ok |\n\nDone."


@pytest.mark.parametrize("pieces", [1, 7, len(TABLE)])
def test_a_table_is_aligned_once_all_of_it_is_there(pieces: int) -> None:
    renderer, lines = MessageRenderer(Style(colour=True), 60), list[str]()
    size = -(-len(TABLE) // pieces)
    for start in range(0, len(TABLE), size):
        event = {"messageId": "m", "agent": "coder", "text": TABLE[start : start + size]}
        lines += renderer.delta(event, from_its_start=True)
    lines += renderer.message({"messageId": "m", "agent": "coder", "text": TABLE})
    assert [re.sub(r"\x1b\[\d+m", "", line) for line in lines] == [
        "  Checks:",
        "",
        "  check │ result",
        "  ──────┼─────────",
        "  tests │ 2 passed",
        "  型    │ ok",
        "",
        "  Done.",
    ]


def test_a_table_without_colours_or_too_wide_stays_as_it_is() -> None:
    for style, columns in ((Style(colour=False), 60), (Style(colour=True), 12)):
        lines = MessageRenderer(style, columns).message({"messageId": "m", "agent": "coder", "text": TABLE})
        assert "  | check | result |" in lines
