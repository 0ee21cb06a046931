"""Of a plan each coder is told no more than fits: what it writes is its own part all the same."""

import pytest

from sidecar.offline.skill import Act, Say
from sidecar.work.handover import step_of
from sidecar.work.plan import read_plan
from tests.unit.models.test_scaffold import played


@pytest.mark.parametrize(
    "place", ["", " in libs/kit", " in a/rather/long/way/down/to/where/nobody/would/ever/look/for/it"]
)
@pytest.mark.parametrize("kind", ["python package", "starlette api", "typescript library", "react app", "static site"])
def test_every_part_of_a_plan_is_written_however_much_of_it_is_told(kind: str, place: str) -> None:
    text = f"create a {kind} called bookings-and-orders{place}"
    listings: dict[str, list[str]] = {".": []}
    folder = ""
    for name in place.removeprefix(" in ").split("/") if place else ():
        folder = f"{folder}/{name}".lstrip("/")
        listings[folder] = []
    said, _ = played("planner", text, listings)
    assert isinstance(said, Say), said
    plan = read_plan(said.text)
    for step in plan.steps:
        done, _ = played("coder", text, {}, part=f"s{step.id}", told=step_of(plan, step))
        assert isinstance(done, Act), done
        assert [args["path"] for _, args in done.calls] == step.files
