"""What a planner says, read as a plan."""

import json

import pytest

from sidecar.work.plan import NoPlan, Plan, one_step, parse_plan


def plan(*steps: dict[str, object]) -> Plan:
    return parse_plan(json.dumps({"steps": steps}))


def waits(found: Plan) -> dict[str, set[str]]:
    return {step: set(others) for step, others in found.waits().items()}


def test_a_plan_between_fences_after_a_preface_is_found() -> None:
    found = parse_plan('Here is {my} plan:\n```json\n{"steps": [{"id": 1, "title": "one", "check": "make"}]}\n```\nOk?')
    assert [(step.id, step.title, step.checks) for step in found.steps] == [("1", "one", ["make"])]


def test_other_names_for_the_same_things_are_understood() -> None:
    steps = [{"description": "a", "files": "x.py"}, {"task": "b", "dependsOn": [1], "acceptance": None}, "c"]
    found = parse_plan(json.dumps({"plan": steps}))
    assert [(step.id, step.title, step.files, step.after) for step in found.steps] == [
        ("1", "a", ["x.py"], []),
        ("2", "b", [], ["1"]),
        ("3", "c", [], []),
    ]


def test_numbered_prose_is_a_plan_in_that_order() -> None:
    found = parse_plan("I would do this:\n1. write the parser\n2. write the tests\n3) run them")
    assert waits(found) == {"1": set(), "2": {"1"}, "3": {"1", "2"}}


def test_steps_that_touch_other_files_and_do_not_wait_are_done_together() -> None:
    found = plan(
        {"id": "a", "title": "a", "files": ["a.py"]},
        {"id": "b", "title": "b", "files": ["b.py"]},
        {"id": "same", "title": "also a", "files": ["a.py"]},
        {"id": "unknown", "title": "who knows which files"},
        {"id": "last", "title": "last", "files": ["c.py"], "after": ["a", "b"]},
    )
    assert waits(found) == {
        "a": set(),
        "b": set(),
        "same": {"a"},
        "unknown": {"a", "b", "same"},
        "last": {"a", "b", "unknown"},
    }


def test_a_step_stands_after_those_that_it_waits_for_however_it_is_written() -> None:
    found = plan(
        {"id": "last", "title": "last", "files": ["a.py"], "after": ["first"]},
        {"id": "first", "title": "first", "files": ["a.py"]},
    )
    assert [step.id for step in found.order()] == ["first", "last"]
    assert waits(found) == {"first": set(), "last": {"first"}}


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("I cannot plan this.", "no JSON object"),
        ("", "no JSON object"),
        ('{"steps": []}', "no steps"),
        ('{"steps": [{"files": []}]}', "step 1"),
        ('{"steps": [{"id": "1", "title": "a"}, {"id": "1", "title": "b"}]}', "same id"),
        ('{"steps": [{"id": "1", "title": "a", "after": ["9"]}]}', "waits for 9"),
        ('{"steps": [{"id": "1", "title": "a", "after": ["2"]}, {"id": "2", "title": "b", "after": ["1"]}]}', "circle"),
        (json.dumps({"steps": ["x"] * 31}), "at most"),
        ('{"steps": [' + "{" * 9_000, "no JSON object"),
    ],
)
def test_what_is_no_plan_is_told_why(said: str, problem: str) -> None:
    with pytest.raises(NoPlan, match=problem):
        parse_plan(said)


def test_without_a_plan_the_request_is_the_only_step() -> None:
    assert [step.title for step in one_step("  do\nit ").steps] == ["do it"]


@pytest.mark.parametrize(
    "said",
    [
        '{"plan": {"steps": [{"title": "one"}, {"title": "two"}]}}',
        'First [x], then:\n[{"title": "one"}, {"title": "two"}]',
        '{"files": ["a.py"]} {"steps": ["one", "two"]}',
    ],
)
def test_a_plan_is_found_with_or_without_something_around_it(said: str) -> None:
    assert [step.title for step in parse_plan(said).steps] == ["one", "two"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("./a.py", "a.py"), ("src/", "src/a.py"), ("src/*.py", "src/b.py"), (".", "a.py"), ("x/../a", "a")],
)
def test_steps_whose_files_lie_in_each_other_are_not_done_together(one: str, other: str) -> None:
    found = plan({"id": "1", "title": "a", "files": [one]}, {"id": "2", "title": "b", "files": [other]})
    assert waits(found) == {"1": set(), "2": {"1"}}


def test_files_whose_names_only_begin_alike_are_apart() -> None:
    found = plan({"id": "1", "title": "a", "files": ["src/a"]}, {"id": "2", "title": "b", "files": ["src/ab"]})
    assert waits(found) == {"1": set(), "2": set()}
