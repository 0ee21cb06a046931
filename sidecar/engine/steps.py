"""Names of steps, turns and tool calls. They stay the same for good: a resumed task finds its records by them.

This is the only place that reads or writes them as text.
"""

import re
from dataclasses import dataclass, field, replace
from typing import NamedTuple

ROUTE = "route"
CONTEXT = "context"
#: The text of a prompt that you named.
PROMPT = "prompt"
VERIFICATION = "verify"
ESCALATION = "escalation"
BUDGET = "budget"
#: Ask whether to go ahead with a plan.
GO_AHEAD = "goahead"
#: Find the last change, then undo it.
LAST_CHANGE = "lastchange"
UNDO = "undo"
#: The title of a task.
TITLE = "title"
#: Part of an agent that carries out one step of a plan.
PLANNED = "s"
#: Part of an agent that fixes what a review found.
FIX = "fix"

_UNDO = "review."

_WORD = re.compile(r"([a-z]+)(\d*)")
_CALL = re.compile(r"(?P<task>[^.]+)\.(?P<rest>r\d+\..*?)(?:~(?P<branch>\d+))?(?:\+(?P<repeat>\d+))?")


@dataclass(frozen=True, slots=True)
class StepKey:
    """One step of a task, or one turn of an agent in it: `r1.2-coder.s1.attempt2.0~3`.

    An agent's step has a `place` in the pipeline; other steps are named after what they do, such as `r1.verify2`.
    """

    round: int
    name: str
    place: int = 0
    #: The agent's part of the pipeline's work, such as `configure`, or `s` for a planned step; "" for all of it.
    part: str = ""
    #: Which planned step, fix, verification … this is.
    number: int = 0
    #: The agent goes on with its work after this verification failed.
    attempt: int = 0
    #: The agent replies again because its last reply could not be parsed.
    repair: bool = False
    turn: int | None = None
    #: How often the task was rewound before. It makes the stored key unique, but doesn't tell steps apart.
    branch: int = field(default=0, compare=False)

    @property
    def agent(self) -> str:
        return self.name if self.place else ""

    @property
    def is_verification(self) -> bool:
        return self.name == VERIFICATION and not self.place

    @property
    def is_planned(self) -> bool:
        return self.part == PLANNED

    @property
    def is_fix(self) -> bool:
        return self.part == FIX

    def of_part(self, part: str, number: int = 0) -> "StepKey":
        return replace(self, part=part, number=number)

    def of_attempt(self, attempt: int) -> "StepKey":
        return replace(self, attempt=attempt)

    def of_repair(self) -> "StepKey":
        return replace(self, repair=True)

    def of_turn(self, turn: int) -> "StepKey":
        # Every turn makes one: `replace` takes several times as long.
        return StepKey(
            self.round, self.name, self.place, self.part, self.number, self.attempt, self.repair, turn, self.branch
        )

    def on_branch(self, branch: int) -> "StepKey":
        return self if branch == self.branch else replace(self, branch=branch)

    @property
    def step(self) -> "StepKey":
        """The step that this turn belongs to."""
        return replace(self, turn=None)

    def __str__(self) -> str:
        number = str(self.number or "")
        parts = [f"r{self.round}", f"{self.place}-{self.name}" if self.place else f"{self.name}{number}"]
        if self.part:
            parts.append(f"{self.part}{number}")
        if self.attempt:
            parts.append(f"attempt{self.attempt}")
        if self.repair:
            parts.append("repair")
        if self.turn is not None:
            parts.append(str(self.turn))
        return ".".join(parts) + (f"~{self.branch}" if self.branch else "")

    @classmethod
    def parse(cls, text: str) -> "StepKey":
        plain, _, branch = text.partition("~")
        key, rest = _parse_parts(plain.split("."))
        if rest:
            raise ValueError(f"{text!r} is not the key of a step")
        return key.on_branch(int(branch or 0))


class CallKey(NamedTuple):
    """The id of a tool call that a step makes: its task, its step, and its name there."""

    task_id: str
    step: StepKey
    name: str
    branch: int = 0
    #: How often the same call was made before and cut off.
    repeat: int = 0

    def __str__(self) -> str:
        branch = f"~{self.branch}" if self.branch else ""
        repeat = f"+{self.repeat}" if self.repeat else ""
        return f"{self.task_id}.{self.step}.{self.name}{branch}{repeat}"

    def copied_to(self, task_id: str) -> "CallKey":
        """The same call in a copy of the task, which has never been rewound."""
        return self._replace(task_id=task_id, branch=0, repeat=0)

    @classmethod
    def parse(cls, text: str) -> "CallKey | None":
        """`None` if no step made the call: a person did, in a review."""
        match = _CALL.fullmatch(text)
        if match is None:
            return None
        try:
            step, name = _parse_parts(match["rest"].split("."))
        except ValueError:
            return None
        return cls(match["task"], step, ".".join(name), int(match["branch"] or 0), int(match["repeat"] or 0))


def undo_key(rewind: str, *, left: bool = False) -> str:
    """The key of what undoing did to files, or of what it left as it was. No step made these changes."""
    return f"{_UNDO}{rewind}.left" if left else f"{_UNDO}{rewind}"


def is_undo(key: str) -> bool:
    return key.startswith(_UNDO)


def _parse_parts(parts: list[str]) -> tuple[StepKey, list[str]]:
    """The key at the beginning, and the parts after it. A turn, or the name of a step without an agent, ends it."""
    if len(parts) < 2 or not parts[0].startswith("r") or not parts[0][1:].isdigit():
        raise ValueError(f"{'.'.join(parts)!r} is not the key of a step")
    place, dash, name = parts[1].partition("-")
    if not dash:
        word = _WORD.fullmatch(parts[1])
        if word is None:
            raise ValueError(f"{'.'.join(parts)!r} is not the key of a step")
        return StepKey(int(parts[0][1:]), word[1], number=int(word[2] or 0)), parts[2:]
    key = StepKey(int(parts[0][1:]), name, int(place))
    for index, part in enumerate(parts[2:], start=2):
        if part.isdigit():
            return key.of_turn(int(part)), parts[index + 1 :]
        word = _WORD.fullmatch(part)
        if word is None:
            return key, parts[index:]
        if word[1] == "attempt":
            key = key.of_attempt(int(word[2]))
        elif part == "repair":
            key = key.of_repair()
        else:
            key = key.of_part(word[1], int(word[2] or 0))
    return key, []
