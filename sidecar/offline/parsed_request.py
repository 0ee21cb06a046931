"""A question to the offline model: the request, the brief, and the tool results so far."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sidecar.models.port import Brief, Request, ToolReturn, ToolTurn, UserTurn

_POLITE = re.compile(
    r"^(?:(?:hi|hello|hey|ok|okay|so|now|then|please|pls|just)\b[\s,!.]*|"
    r"(?:can|could|would|will)\s+you\s+(?:please\s+)?|i(?:\s+would|'d)\s+like\s+(?:you\s+)?to\s+|"
    r"i\s+(?:want|need)\s+(?:you\s+)?to\s+|let(?:'s|\s+us)\s+|help\s+me\s+(?:to\s+)?)+",
    re.IGNORECASE,
)
_TRAILING = re.compile(r"(?<![\s,.!?])(?:[\s,]+(?:please|pls|thanks|thank you|for me|now))*[\s.!?]*$", re.IGNORECASE)
#: After such a word a full stop means the workspace.
_HERE = re.compile(r"\s(?:in|into|at|under|for|on|of)\s\./?$", re.IGNORECASE)
#: A mention: @ and a name or a path, perhaps with lines and in quotes.
_MENTION = re.compile(r"""(?<!\S)@(?=["'\w./])((?:"[^"\n]+"|'[^'\n]+'|[^\s"'`,;!?]+?(?=[.,;!?]*(?:\s|$))))""")
#: Requests in which an @ is literal: package names, searches, commands.
_LITERAL = re.compile(
    r"\b(?:install|uninstall|npm|pnpm|yarn|npx)\b|^(?:search|grep|look)\b|^(?:add|remove|update|upgrade|find)\s+@|"
    r"^(?:run|execute)\s+(?!(?:(?:the|all|my|our)\s+)*tests?\b)",
    re.IGNORECASE,
)
_CODE = re.compile(r"(`[^`]*`)")


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """`asked` is the request as written; `words` is the same on one line, without polite phrases."""

    agent: str
    asked: str
    brief: Brief = field(default_factory=Brief)
    offered: frozenset[str] = frozenset()
    returns: Sequence[ToolReturn] = ()
    #: Replies since it was asked.
    turns: int = 0

    @property
    def words(self) -> str:
        return strip_politeness(self.asked)

    @property
    def last(self) -> ToolReturn | None:
        return self.returns[-1] if self.returns else None


def strip_politeness(text: str) -> str:
    """ "Could you please run the tests?" is "run the tests"."""
    kept = _POLITE.sub("", " ".join(text.split()))
    return kept if _HERE.search(kept) else _TRAILING.sub("", kept)


def parse_questions(request: Request) -> list[ParsedRequest]:
    """The messages since the request, the latest first, each with the results that followed it.

    Later messages come first: one that no skill understands is a remark, and the request remains.
    """
    offered = frozenset(tool.name for tool in request.roster or request.tools)
    opening = _opening(request)
    found: list[ParsedRequest] = []
    for place in range(len(request.history) - 1, opening - 1, -1):
        turn = request.history[place]
        if not isinstance(turn, UserTurn):
            continue
        since = request.history[place + 1 :]
        returns = [each for later in since if isinstance(later, ToolTurn) for each in later.returns]
        turns = sum(later.role == "assistant" for later in since)
        found.append(
            ParsedRequest(request.agent, resolve_mentions(turn.text.strip()), request.brief, offered, returns, turns)
        )
    if found and request.brief.asked:
        found[-1] = replace(found[-1], asked=resolve_mentions(request.brief.asked.strip()))
    return found


def resolve_mentions(text: str) -> str:
    """“explain @src/app.py” is “explain src/app.py”."""
    if "@" not in text or _LITERAL.search(strip_politeness(text)):
        return text
    return "".join(
        piece if piece.startswith("`") else _MENTION.sub(lambda found: found[1], piece) for piece in _CODE.split(text)
    )


def last_message(request: Request) -> str:
    return next((turn.text for turn in reversed(request.history) if isinstance(turn, UserTurn)), "")


def _opening(request: Request) -> int:
    """The index of the current request in the history; earlier rounds come before it."""
    places = [place for place, turn in enumerate(request.history) if isinstance(turn, UserTurn)]
    asked = request.brief.asked
    for place in reversed(places):
        turn = request.history[place]
        if isinstance(turn, UserTurn) and asked and turn.text == asked:
            return place
    return places[-1] if places else 0
