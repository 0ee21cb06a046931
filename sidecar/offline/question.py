"""What the offline model is asked: the request of the person or of another agent, and what came back so far."""

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
_TRAILING = re.compile(r"(?:[\s,]+(?:please|pls|thanks|thank you|for me|now))*[\s.!?]*$", re.IGNORECASE)
#: Behind such a word a full stop is the workspace.
_HERE = re.compile(r"\s(?:in|into|at|under|for|on|of)\s\./?$", re.IGNORECASE)
#: What a person points at with an @: a name, or a path with lines of it, perhaps between quotes.
_POINTED = re.compile(r"""(?<!\S)@(?=["'\w./])((?:"[^"\n]+"|'[^'\n]+'|[^\s"'`,;!?]+?(?=[.,;!?]*(?:\s|$))))""")
_LINES = re.compile(r"(:\d+)-\d+$")
#: Where an @ is meant as it stands: in the name of a package, in what is looked for, in a command.
_LITERAL = re.compile(
    r"\b(?:install|uninstall|npm|pnpm|yarn|npx)\b|^(?:search|grep|look)\b|^(?:add|remove|update|upgrade|find)\s+@|"
    r"^(?:run|execute)\s+(?!(?:(?:the|all|my|our)\s+)*tests?\b)",
    re.IGNORECASE,
)
_CODE = re.compile(r"(`[^`]*`)")


@dataclass(frozen=True, slots=True)
class Question:
    """`asked` is the request as it was written, `words` the same without what is only polite, on one line.

    `agent` is who is played: the coder does what was asked, a planner plans it, a reviewer looks at it.
    """

    agent: str
    asked: str
    brief: Brief = field(default_factory=Brief)
    offered: frozenset[str] = frozenset()
    returns: Sequence[ToolReturn] = ()
    #: How many replies were given since it was asked.
    turns: int = 0

    @property
    def words(self) -> str:
        return plain(self.asked)

    @property
    def last(self) -> ToolReturn | None:
        return self.returns[-1] if self.returns else None


def plain(text: str) -> str:
    """A request without its politeness: "Could you please run the tests?" is "run the tests"."""
    kept = _POLITE.sub("", " ".join(text.split()))
    return kept if _HERE.search(kept) else _TRAILING.sub("", kept)


def questions(request: Request) -> list[Question]:
    """What may be meant, the likeliest first: what the person said last, then what the task is.

    What came back since it was said belongs to it; a note that is no wish is nobody's skill, and changes nothing.
    """
    offered = frozenset(tool.name for tool in request.roster or request.tools)
    opening = _opening(request)
    found: list[Question] = []
    for place in range(len(request.history) - 1, opening - 1, -1):
        turn = request.history[place]
        if not isinstance(turn, UserTurn):
            continue
        since = request.history[place + 1 :]
        returns = [each for later in since if isinstance(later, ToolTurn) for each in later.returns]
        turns = sum(later.role == "assistant" for later in since)
        found.append(Question(request.agent, pointed(turn.text.strip()), request.brief, offered, returns, turns))
    if found and request.brief.asked:
        found[-1] = replace(found[-1], asked=pointed(request.brief.asked.strip()))
    return found


def pointed(text: str) -> str:
    """A request with what it points at as if it were only named: “explain @src/app.py” is “explain src/app.py”."""
    if "@" not in text or _LITERAL.search(plain(text)):
        return text
    return "".join(
        piece if piece.startswith("`") else _POINTED.sub(lambda found: _LINES.sub(r"\1", found[1]), piece)
        for piece in _CODE.split(text)
    )


def asked_last(request: Request) -> str:
    """What was said last, whoever said it."""
    return next((turn.text for turn in reversed(request.history) if isinstance(turn, UserTurn)), "")


def _opening(request: Request) -> int:
    """Where the present request stands in the history: what is before it was said in earlier rounds."""
    places = [place for place, turn in enumerate(request.history) if isinstance(turn, UserTurn)]
    asked = request.brief.asked
    for place in reversed(places):
        turn = request.history[place]
        if isinstance(turn, UserTurn) and asked and turn.text == asked:
            return place
    return places[-1] if places else 0
