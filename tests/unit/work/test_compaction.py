"""Whatever a conversation holds and however small its room is, what is sent stays valid and nothing is lost."""

from random import Random

import pytest

from sidecar.models.port import ModelTurn, NativeTurn, ToolReturn, ToolTurn, ToolUse, UserTurn
from sidecar.work.compaction import Conversation, turn_tokens


def exchange(chance: Random, number: int) -> tuple[ModelTurn, ToolTurn]:
    calls, returns = [], []
    for part in range(chance.randint(1, 3)):
        tool = chance.choice(["read_file", "run_tests", "write_file"])
        content = "c" * chance.choice([0, 3_000])
        calls.append(ToolUse(id=f"{number}.{part}", tool=tool, args={"path": f"{number}.{part}", "content": content}))
        brought = chance.choice(["ok", "1 failed"]) + f" <{number}.{part}> " + "y" * chance.choice([0, 500, 3_000])
        returns.append(ToolReturn(id=f"{number}.{part}", tool=tool, status="success", content=brought))
    kept = NativeTurn(provider="a", model="b", content=[{"z": "z" * 1_000}]) if chance.random() < 0.3 else None
    return ModelTurn(text="words", calls=calls, kept=kept), ToolTurn(returns=returns)


def results(conversation: Conversation) -> list[ToolReturn]:
    return [back for turn in conversation.history if isinstance(turn, ToolTurn) for back in turn.returns]


@pytest.mark.parametrize("room", [600, 1_500, 4_000, 9_000])
@pytest.mark.parametrize("seed", range(8))
def test_any_conversation_in_any_room_stays_valid_and_nothing_of_it_is_lost(room: int, seed: int) -> None:
    chance = Random(f"{room} {seed}")
    said = ["the rules", "the request"]
    conversation = Conversation(lambda: room, [UserTurn(text=text) for text in said])
    brought: list[str] = []
    for number in range(20):
        asked, answered = exchange(chance, number)
        brought += [back.id for back in answered.returns]
        conversation.add(asked)
        conversation.add(answered)
        if chance.random() < 0.2:
            said.append(f"message {number}")
            conversation.add(UserTurn(text=said[-1]))
        conversation.fit(room)
        for turn, after in zip(conversation.history, [*conversation.history[1:], None], strict=True):
            if isinstance(turn, ModelTurn):
                assert isinstance(after, ToolTurn)
                assert [call.id for call in turn.calls] == [back.id for back in after.returns]
        words = [turn.text for turn in conversation.history if isinstance(turn, UserTurn)]
        assert [text for text in words if not text.startswith("[")] == said, "what the person said stays word for word"
        assert len(words) - len(said) <= 1, "there is one note on what is gone"
        assert {back.id for back in answered.returns} <= {back.id for back in results(conversation)}
        assert conversation.tokens == sum(map(turn_tokens, conversation.history))
        there = " ".join(
            [*(back.content for back in results(conversation)), *(text for _, text in conversation.archive.entries)]
        )
        assert not [each for each in brought if f"<{each}>" not in there], "what is not sent can be searched"
