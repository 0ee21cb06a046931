"""Plans and verdicts in words."""

import json

from sidecar.commands.prose import Prose
from sidecar.commands.retelling import retold
from sidecar.commands.style import Style

PLAN = {"steps": [{"id": "1", "title": "Write it", "files": ["a", "b"]}, {"title": "Test it"}, "Say so"]}
VERDICT = {
    "passed": False,
    "summary": "Not yet.",
    "issues": [{"severity": "error", "file": "a.py", "line": 3, "message": "It never ends."}],
}


def test_a_plan_is_told_step_by_step() -> None:
    text = f"I would do it so:\n\n```json\n{json.dumps(PLAN, indent=2)}\n```\nThat is all."
    assert retold(text) == "I would do it so:\n1. Write it (2 files)\n2. Test it\n3. Say so\nThat is all."


def test_a_verdict_is_told_with_what_is_wrong() -> None:
    assert retold(json.dumps(VERDICT)) == "Not yet.\n- error: a.py:3: It never ends."
    assert retold('{"passed": true}') == "Nothing wrong was found."


def test_other_json_and_prose_stay_as_they_are() -> None:
    for text in ("No JSON.", 'A { and {"name": 1}.', '{"steps": [{"x": 1}]}', '{"passed": "perhaps"}'):
        assert retold(text) == text


def test_half_a_plan_is_never_told() -> None:
    prose = Prose(Style(colour=False), None)
    text = json.dumps(PLAN, indent=2)
    told = []
    for part in (text[:20], text[20:]):
        event = {"type": "delta", "messageId": "m", "agent": "planner", "text": part}
        told += prose.delta(event, from_its_start=True)
    assert told == []
    whole = prose.message({"messageId": "m", "agent": "planner", "text": text})
    assert whole == ["  1. Write it (2 files)", "  2. Test it", "  3. Say so"]


def test_what_comes_between_the_live_words_of_a_verdict_and_its_whole_does_not_show_its_json() -> None:
    prose = Prose(Style(colour=False), None)
    text = json.dumps(VERDICT)
    live = {"type": "delta", "messageId": "m1", "agent": "reviewer", "text": text}
    assert prose.delta(live, from_its_start=True) == []
    assert prose.finish() == []
    told = "\n".join(prose.message({"type": "message", "messageId": "m1", "agent": "reviewer", "text": text}))
    assert "Not yet." in told and "{" not in told
