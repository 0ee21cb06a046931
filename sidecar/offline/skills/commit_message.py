"""Writes a commit message from what changed."""

from sidecar.offline.changes import changes_in, meant
from sidecar.offline.message import message
from sidecar.offline.moves import Moves
from sidecar.offline.output import why
from sidecar.offline.phrases import phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject

_ASKED = phrases(
    """
    {write}( me)?( an?| the| some)? (good |conventional |short )?(git )?commit messages?( (for|from|of) {changes})?
    what (should|would|could) (the|my|a good) commit message (be|say)
    (good )?commit message( for {changes})?
    how (should|would) (i|you) (describe|word) (this|my) commit
    """,
    write=r"(?:write|suggest|draft|generate|propose|create|make|give\s+me|come\s+up\s+with|compose)",
    changes=r"(?:these|(?:the|my|our)\s+(?:(?:current|uncommitted|staged|latest)\s+)?)?(?:\s*(?:changes?|diff|work|edits))",
)
_LOOKED = 2


class CommitMessage:
    example = "suggest a commit message"
    tools = frozenset({"git_status", "git_diff", "read_file", "list_dir"})

    def recognise(self, question: Question) -> JsonObject | None:
        return {} if understood(_ASKED, question.words) else None

    def next(self, wish: JsonObject, question: Question) -> Move:
        if not question.returns:
            return Act([("git_status", {}), ("git_diff", {"ref": "HEAD"})])
        if question.returns[0].status != "success":
            return Decline(why(question.returns[0]))
        changes, _ = meant(changes_in(question.returns))
        moves = Moves.possible(changes)
        if len(question.returns) == _LOOKED and (look := moves.look()):
            return look
        changes = moves.told(changes, question.returns[_LOOKED:])
        if not changes:
            return Decline("Nothing is changed, so there is nothing that a commit message could say.")
        more = "It says what changed; why, only you know. Say “commit my changes” to commit with it."
        return Say(f"```\n{message(changes)}\n```\n\n{more}")
