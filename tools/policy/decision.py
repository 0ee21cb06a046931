"""What was decided of a call, and why, in words for the person and the model."""

from typing import Literal, NamedTuple


class Decision(NamedTuple):
    """`network`: whether the person's word, and nothing less, lets the command reach the network."""

    verdict: Literal["allow", "ask", "deny"]
    why: str
    network: bool = False
