"""A crew's plan is data that code checks before anybody works on it."""

from typing import Any

import pytest

from sidecar.fleet.crew.plan import MAX_PARTS, BadAnswer, parse_plan, parse_review
from tests.support.crew import part

OWNERS = ("backend", "qa")


def plan(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"parts": list(parts)}


def test_a_plan_knows_what_comes_before_each_part() -> None:
    one, two = part("one", "backend", ["a/"], []), part("two", "qa", ["b.py"], ["true"], ["one"])
    parsed = parse_plan(plan(one, two, part("three", "qa", ["a/x.py"], [], ["two"])), OWNERS)
    assert parsed.before(parsed.parts[2]) == {"one", "two"}
    assert "two (qa; after one)" in parsed.render()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (plan(), "parts"),
        (plan(*(part(f"p{number}", "qa", [f"{number}.py"], []) for number in range(MAX_PARTS + 1))), "at most"),
        (plan(part("one", "nobody", ["a"], [])), "no specialist nobody"),
        (plan(part("one", "qa", ["a"], []), part("one", "qa", ["b"], [])), "same id"),
        (plan(part("one", "qa", ["a"], [], ["two"])), "waits for two"),
        (plan(part("one", "qa", ["a"], [], ["two"]), part("two", "qa", ["b"], [], ["one"])), "circle"),
        (plan(part("one", "qa", ["a"], [], ["one"])), "circle"),
        (plan(part("one", "qa", ["src/"], []), part("two", "backend", ["src/x.py"], [])), "same files"),
        (plan(part("one", "qa", ["src/*.py"], []), part("two", "backend", ["src/x.py"], [])), "same files"),
        (plan(part("one", "qa", ["../outside"], [])), "not a path in the workspace"),
        (plan(part("one", "qa", ["/etc/passwd"], [])), "not a path in the workspace"),
        (plan(part("one", "qa", [], [])), "files"),
        (plan({**part("one", "qa", ["a"], []), "approvals": "auto"}), "approvals"),
        ({"steps": ["a", "b"]}, "parts"),
        (plan(part("../x", "qa", ["a"], [])), "id"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_refused_with_the_reason(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadAnswer, match=problem):
        parse_plan(given, OWNERS)


def test_a_review_that_does_not_approve_says_why() -> None:
    assert parse_review({"approved": True}).approved
    with pytest.raises(BadAnswer, match="at least one issue"):
        parse_review({"approved": False, "issues": []})
