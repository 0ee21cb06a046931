"""The planner's plan: steps with their files, dependencies and checks."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from sidecar.work.replies import find_values
from tools.text import first_words

_MAX_STEPS = 30
#: A longer plan is carried out in order.
_MAX_PARALLEL = 12
_PATTERN = re.compile(r"[*?]")
_NUMBERED = re.compile(r"^\s*(?:step\s+)?(\d{1,2})[.):]\s+(.+)$", re.MULTILINE | re.IGNORECASE)


class NoPlan(Exception):
    """The planner's text is no usable plan; the message tells it why."""


def _strings(value: Any) -> Any:
    if value is None:
        return []
    return [str(each) for each in value] if isinstance(value, list) else [str(value)] if value else []


def _path_parts(file: str) -> tuple[str, ...]:
    """The parts of a path; of a pattern, those of its folder."""
    parts = PurePosixPath(normpath(file.strip())).parts
    pattern = next((number for number, part in enumerate(parts) if _PATTERN.search(part)), len(parts))
    return parts[:pattern]


def overlap(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether some of these files, folders or patterns may be the same file."""
    return any(
        one[: len(another)] == another[: len(one)]
        for one in map(_path_parts, ours)
        for another in map(_path_parts, theirs)
    )


class PlannedStep(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    id: str = ""
    title: str = Field(validation_alias=AliasChoices("title", "description", "task", "name", "step"), min_length=1)
    files: list[str] = []
    after: list[str] = Field([], validation_alias=AliasChoices("after", "dependencies", "dependsOn", "depends_on"))
    checks: list[str] = Field([], validation_alias=AliasChoices("checks", "check", "acceptance", "acceptanceChecks"))

    _lists = field_validator("files", "after", "checks", mode="before")(_strings)

    @field_validator("id", mode="before")
    @classmethod
    def _id(cls, value: Any) -> str:
        return str(value)

    def is_independent_of(self, other: "PlannedStep") -> bool:
        """Whether both name their files, and none overlap."""
        return bool(self.files and other.files) and not overlap(self.files, other.files)

    def render(self) -> str:
        parts = [f"{self.id}. {self.title}"]
        parts += [f"files: {', '.join(self.files)}"] if self.files else []
        parts += [f"done when: {'; '.join(self.checks)}"] if self.checks else []
        return " — ".join(parts)


class Plan(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)

    steps: list[PlannedStep]

    def render(self) -> str:
        return "\n".join(step.render() for step in self.steps)

    def order(self) -> list[PlannedStep]:
        """As written, but no step before those that it waits for."""
        ordered: list[PlannedStep] = []
        waiting, done = list(self.steps), set[str]()
        while waiting:
            step = next((step for step in waiting if done.issuperset(step.after)), None)
            if step is None:
                raise NoPlan(f"steps wait for each other in a circle: {', '.join(step.id for step in waiting)}")
            ordered.append(step)
            done.add(step.id)
            waiting.remove(step)
        return ordered

    def waits(self) -> dict[str, frozenset[str]]:
        """The steps that must be done before each step begins: its dependencies, and earlier steps that may touch the
        same files. All others may run at the same time."""
        order = self.order()
        return {
            step.id: frozenset(step.after) | {other.id for other in order[:place] if not step.is_independent_of(other)}
            for place, step in enumerate(order)
        }

    def is_parallel(self) -> bool:
        """Whether some steps may run at the same time: they name their files, and share none."""
        waits = self.waits()
        ids = [step.id for step in self.steps]
        return len(ids) <= _MAX_PARALLEL and any(
            _apart(waits, one, other) for place, one in enumerate(ids) for other in ids[place + 1 :]
        )


def _apart(waits: Mapping[str, frozenset[str]], one: str, other: str) -> bool:
    return other not in _before(waits, one) and one not in _before(waits, other)


def _before(waits: Mapping[str, frozenset[str]], step: str) -> set[str]:
    found: set[str] = set()
    for each in waits[step]:
        found |= {each} | _before(waits, each)
    return found


def parse_plan(text: str) -> Plan:
    problem = "there is no JSON object with steps in it"
    for found in find_values(text):
        steps = _steps_in(found)
        if steps is None:
            continue
        try:
            return _validate(steps)
        except NoPlan as error:
            problem = str(error)
    listed = [(number, title.strip()) for number, title in _NUMBERED.findall(text)]
    if len(listed) > 1 and [int(number) for number, _ in listed] == list(range(1, len(listed) + 1)):
        # A numbered list gives an order, but says nothing about what may run at the same time.
        earlier = ["", *(number for number, _ in listed)]
        return _validate(
            [
                {"id": number, "title": title, "after": before}
                for (number, title), before in zip(listed, earlier, strict=False)
            ]
        )
    raise NoPlan(problem)


def _steps_in(found: Any) -> list[Any] | None:
    """The list of steps, bare or wrapped; a bare list counts only if its entries look like steps."""
    if isinstance(found, list):
        return found if found and all(isinstance(each, dict) and "title" in each for each in found) else None
    inner = found.get("plan", found)
    steps = inner.get("steps") if isinstance(inner, dict) else inner
    return steps if isinstance(steps, list) else None


def one_step(request: str) -> Plan:
    """The plan if there is none."""
    return Plan(
        steps=[PlannedStep(id="1", title=first_words(" ".join(request.split()), 120) or "Carry out the request")]
    )


def _validate(given: Sequence[Any]) -> Plan:
    if not given:
        raise NoPlan("it has no steps")
    if len(given) > _MAX_STEPS:
        raise NoPlan(f"it has {len(given)} steps; at most {_MAX_STEPS} are allowed")
    steps: list[PlannedStep] = []
    for number, each in enumerate(given, start=1):
        entry = {"title": each} if isinstance(each, str) else each
        try:
            step = PlannedStep.model_validate(entry)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise NoPlan(f"step {number} is invalid: {where}: {first['msg']}") from error
        steps.append(step if step.id else step.model_copy(update={"id": str(number)}))
    ids = [step.id for step in steps]
    if len(set(ids)) < len(ids):
        raise NoPlan("two steps have the same id")
    for step in steps:
        if unknown := [other for other in step.after if other not in ids]:
            raise NoPlan(f"step {step.id} waits for {unknown[0]}, which is not a step")
    plan = Plan(steps=steps)
    plan.order()
    return plan
