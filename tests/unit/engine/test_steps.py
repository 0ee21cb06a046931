"""Keys of steps and calls: what they print, and that they read it back."""

import pytest

from sidecar.engine.steps import CallKey, StepKey

CODER = StepKey(1, "coder", 2)
KEYS = {
    "r1.route": StepKey(1, "route"),
    "r1.context900": StepKey(1, "context", number=900),
    "r2.verify3": StepKey(2, "verify", number=3),
    "r1.2-coder": CODER,
    "r1.2-coder.configure": CODER.of_part("configure"),
    "r1.2-coder.s1": CODER.of_part("s", 1),
    "r1.2-coder.s1.attempt2.0": CODER.of_part("s", 1).of_attempt(2).of_turn(0),
    "r1.2-coder.fix2.3": CODER.of_part("fix", 2).of_turn(3),
    "r1.1-planner.repair.1": StepKey(1, "planner", 1).of_repair().of_turn(1),
    "r12.3-my-own_agent.10": StepKey(12, "my-own_agent", 3).of_turn(10),
}


@pytest.mark.parametrize("text", KEYS)
def test_a_key_reads_back_what_it_prints(text: str) -> None:
    assert str(KEYS[text]) == text
    assert StepKey.parse(text) == KEYS[text]


def test_the_branch_makes_the_stored_key_unique_and_does_not_tell_steps_apart() -> None:
    key = CODER.of_turn(0)
    assert str(key.on_branch(2)) == "r1.2-coder.0~2"
    assert StepKey.parse("r1.2-coder.0~2").branch == 2
    assert StepKey.parse("r1.2-coder.0~2") == key


def test_a_turn_knows_its_step() -> None:
    assert StepKey.parse("r1.2-coder.attempt2.4").step == CODER.of_attempt(2)


def test_only_an_agents_step_has_an_agent() -> None:
    assert CODER.agent == "coder"
    assert StepKey(1, "verify", number=1).agent == ""
    assert not StepKey(1, "verify", 1).is_verification, "an agent of that name does no verification"


@pytest.mark.parametrize("text", ["", "r1", "x1.route", "r1.2-coder.0.1", "r1.route.more", "earlier.1", "r1.2-coder.?"])
def test_anything_else_is_no_key(text: str) -> None:
    with pytest.raises(ValueError, match="not the key"):
        StepKey.parse(text)


@pytest.mark.parametrize(
    "call",
    [
        CallKey("t_1", CODER.of_turn(0), "3"),
        CallKey("t_1", CODER.of_part("s", 1).of_turn(12), "0", branch=2),
        CallKey("t_1", StepKey(1, "verify", number=2), "tests", branch=1, repeat=2),
    ],
)
def test_a_call_reads_back_what_it_prints(call: CallKey) -> None:
    assert CallKey.parse(str(call)) == call


def test_a_call_that_no_step_made_has_no_key() -> None:
    assert CallKey.parse("review.0badcafe") is None
    assert CallKey.parse("call_1") is None
