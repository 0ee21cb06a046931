"""Commits what is changed, with a message made from it or with the person's own; not what should not be committed."""

import re

from pydantic import JsonValue

from sidecar.offline.changes import Change, changes_in, meant
from sidecar.offline.message import message
from sidecar.offline.moves import Moves
from sidecar.offline.output import refused, why
from sidecar.offline.phrases import part, phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject

_CHANGES = part("(these|{the}(current |uncommitted |latest )?(changes?|diff|work|edits|files))")
_WITH = (
    r"(?P<rest>\s*[,:]?\s*(?:with|using|and\s+use)\s+(?:(?:the|a|this)\s+)?(?:commit\s+)?(?:message|text)\s*:?\s*.+|"
    r"\s*:\s*.+|\s+(?:-m|as)\s+[\"'“].+)?"
)
_ASKED = phrases(
    """
    (git )?commit(( all)?( of)? {changes}| this| it| everything| all| all of it| what i did)?{with}
    (add|stage) and commit( {changes}| everything| all| this| it)?{with}
    (make|create|do) (a|the) (git )?commit( (of|with|for) {changes})?{with}
    save my work (in|to|as) (git|a commit){with}
    """,
    changes=_CHANGES,
    **{"with": _WITH},
)
_STAGED = phrases("(git )?commit (only )?((the )?staged( (changes?|files?))?|what( is|'s) staged)")
_OWN = re.compile(r"(?:message|text|-m|as|^\s*:)\s*:?\s*[\"'“`]?(?P<text>.+?)[\"'”`]?$", re.IGNORECASE | re.DOTALL)
_STOPS = re.compile(r"\*\*error\*\* `[^`]+` (This looks like|A conflict marker|A file of this name|A password)")
_LOOKED = 3


class Committing:
    example = "commit my changes"
    tools = frozenset({"git_status", "git_diff", "git_add", "git_commit", "review_changes", "read_file", "list_dir"})

    def recognise(self, question: Question) -> JsonObject | None:
        if understood(_STAGED, question.words):
            return {"staged": True, "message": ""}
        asked = understood(_ASKED, question.words)
        if asked is None or re.match(r"git commit .*-", question.words):
            return None  # a command line means exactly what it says
        own = _OWN.search(asked["rest"].strip()) if asked["rest"] else None
        return {"staged": False, "message": own["text"].strip() if own else ""}

    def next(self, wish: JsonObject, question: Question) -> Move:
        returns = question.returns
        if not returns:
            return Act([("git_status", {}), ("git_diff", {"ref": "HEAD"}), ("review_changes", {})])
        if returns[0].status != "success":
            return Decline(why(returns[0]))
        changes, left = meant(changes_in(returns))
        changes = [change for change in changes if change.staged or not wish["staged"]]
        if not changes:
            return Decline(
                "Nothing is staged." if wish["staged"] else "Nothing is changed, so there is nothing to commit."
            )
        if stopped := _stopped(changes, returns[_LOOKED - 1].content):
            return stopped
        moves = Moves.possible(changes)
        looked = [each for each in returns if each.tool in ("read_file", "list_dir")]
        if len(returns) == _LOOKED and not wish["message"] and (look := moves.look()):
            return look
        last = returns[-1]
        if last.status != "success" and last.tool in ("git_add", "git_commit"):
            words = f"Nothing was committed: {why(last)}"
            return Say(words) if refused(last.content) else Decline(words)
        # What is gone from the index already, Git knows no more.
        paths: list[JsonValue] = [each.path for each in changes[:1_000] if not (each.staged and each.how == "deleted")]
        if paths and not wish["staged"] and last.tool not in ("git_add", "git_commit"):
            return Act([("git_add", {"paths": paths})])
        changes = moves.told(changes, looked)
        words = str(wish["message"]) or message(changes)
        if last.tool != "git_commit":
            return Act([("git_commit", {"message": words})])
        files = f"{len(changes)} file{'s' if len(changes) != 1 else ''}"
        first = last.content.splitlines()[0] if last.content else ""
        beside = f"\n\nLeft out, as programs made it: {', '.join(f'`{path}`' for path in left[:5])}." if left else ""
        return Say(f"Committed {files}:\n\n```\n{words}\n```\n\n{first}{beside}".rstrip())


def _stopped(changes: list[Change], review: str) -> Decline | None:
    if conflicts := [change.path for change in changes if change.how == "conflicted"]:
        return Decline(f"Nothing was committed: {', '.join(conflicts[:5])} is in conflict. Resolve that first.")
    found = [line for line in review.splitlines() if _STOPS.search(line)]
    if not found:
        return None
    head = "Nothing was committed, because of what a look at the changes found:"
    return Decline("\n".join([head, *found[:5], "If it is meant so, commit it with “run `git commit …`”."]))
