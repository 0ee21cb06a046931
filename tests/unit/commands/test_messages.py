"""Messages: plans and verdicts in words, and Markdown emphasis."""

import json

import pytest

from sidecar.commands.messages import MessageRenderer, describe_json, emphasize
from sidecar.commands.text import Style

PLAN = {"steps": [{"id": "1", "title": "Write it", "files": ["a", "b"]}, {"title": "Test it"}, "Say so"]}
VERDICT = {
    "passed": False,
    "summary": "Not yet.",
    "issues": [{"severity": "error", "file": "a.py", "line": 3, "message": "It never ends."}],
}


def test_a_plan_is_told_step_by_step() -> None:
    text = f"I would do it so:\n\n```json\n{json.dumps(PLAN, indent=2)}\n```\nThat is all."
    assert describe_json(text) == "I would do it so:\n1. Write it (2 files)\n2. Test it\n3. Say so\nThat is all."


def test_a_verdict_is_told_with_what_is_wrong() -> None:
    assert describe_json(json.dumps(VERDICT)) == "Not yet.\n- error: a.py:3: It never ends."
    assert describe_json('{"passed": true}') == "No problems found."


def test_other_json_and_prose_stay_as_they_are() -> None:
    for text in ("No JSON.", 'A { and {"name": 1}.', '{"steps": [{"x": 1}]}', '{"passed": "perhaps"}'):
        assert describe_json(text) == text


def test_half_a_plan_is_never_told() -> None:
    renderer = MessageRenderer(Style(colour=False), None)
    text = json.dumps(PLAN, indent=2)
    told = []
    for part in (text[:20], text[20:]):
        event = {"type": "delta", "messageId": "m", "agent": "planner", "text": part}
        told += renderer.delta(event, from_its_start=True)
    assert told == []
    whole = renderer.message({"messageId": "m", "agent": "planner", "text": text})
    assert whole == ["  1. Write it (2 files)", "  2. Test it", "  3. Say so"]


def test_what_comes_between_the_live_words_of_a_verdict_and_its_whole_does_not_show_its_json() -> None:
    renderer = MessageRenderer(Style(colour=False), None)
    text = json.dumps(VERDICT)
    live = {"type": "delta", "messageId": "m1", "agent": "reviewer", "text": text}
    assert renderer.delta(live, from_its_start=True) == []
    assert renderer.finish() == []
    told = "\n".join(renderer.message({"type": "message", "messageId": "m1", "agent": "reviewer", "text": text}))
    assert "Not yet." in told and "{" not in told


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("  **`f`** is at `a.py:1`.", "  \x1b[1mf\x1b[0m is at \x1b[36ma.py:1\x1b[0m."),
        ("## What `it` is", "\x1b[1mWhat it is\x1b[0m"),
        ("2 ** 3 ** 4 and a * b", "2 ** 3 ** 4 and a * b"),
        ("an ` alone and **", "an ` alone and **"),
        ("| --- | ---: |", "\x1b[2m| --- | ---: |\x1b[0m"),
    ],
)
def test_emphasis_is_shown_where_there_are_colours(line: str, shown: str) -> None:
    assert emphasize(line, Style(colour=True)) == shown
    assert emphasize(line, Style(colour=False)) == line
