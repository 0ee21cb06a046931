"""How many tokens a text is, roughly and on the safe side, without any model's tokenizer."""

from sidecar.models.port import Model, ModelTurn, ToolTurn, Turn

#: Assumed of a model that does not say how much it can hold.
USUAL_WINDOW = 128_000
#: What is sent may fill this part of the window; the rest is for the reply, the tools and the estimate's error.
SHARE = 0.7
#: Of a small window the instructions and the tools take more than that rest; the history gets what they leave.
_WITH_TOOLS, _LEAST = 0.9, 0.25
BYTES_A_TOKEN = 3


def estimate(text: str) -> int:
    # Code has some 3.5 bytes a token; other scripts have fewer characters a token, but more bytes.
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return size // BYTES_A_TOKEN + 4


def of_turn(turn: Turn) -> int:
    if isinstance(turn, ToolTurn):
        return sum(estimate(back.content) + 8 for back in turn.returns)
    if isinstance(turn, ModelTurn):
        calls = sum(len(str(call.args)) // BYTES_A_TOKEN + 12 for call in turn.calls)
        kept = sum(len(str(part)) // BYTES_A_TOKEN for part in turn.kept.content) if turn.kept else 0
        return max(estimate(turn.text) + calls, kept)
    return estimate(turn.text) + sum(1_600 for _ in turn.images)


def room(model: Model, beside: int = 0) -> int:
    """How many tokens of history the model can be sent, with so many tokens of instructions and tools beside them."""
    window = model.capabilities.context_tokens or USUAL_WINDOW
    return int(min(window * SHARE, max(window * _WITH_TOOLS - beside, window * _LEAST)))
