"""Says what is not committed: on which branch, which files, how many lines; or shows the diff itself."""

import re

from sidecar.offline.changes import Change, read_diff, read_status
from sidecar.offline.output import why
from sidecar.offline.phrases import phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject

_STATUS = phrases(
    """
    ({show})?(the )?git (status|state)
    (status|what's up)
    what (did|have) (i|we) (change|changed|edit|edited|do|done)( (so far|today|here))?
    what ((has|is|was) )?(been )?(changed|modified|uncommitted|not committed|new)( (so far|here|in {project}))?
    (what's|what is) (changed|uncommitted|not committed|staged|modified|new)( in {project})?
    ({show})(all )?(the |my )?(uncommitted |local |current |unstaged |staged )?changes
    ((what's|what is) |{show})(the )?(state|status) of {project}
    (which|what) files (did i change|have i changed|have changed|changed|are (changed|modified|staged|untracked|new))
    (what|which) branch (am i|are we)( on)?
    (are there|do i have) (any )?(uncommitted|unstaged|local|pending) changes
    """
)
_DIFF = phrases(
    """
    ({show})?(the |my |a )?(git )?diffs?
    what (exactly )?(is|are) the (diff|differences?)
    """
)
_SHOWN = 15
_LINES = 200


class GitState:
    example = "what did I change?"
    tools = frozenset({"git_status", "git_diff"})

    def recognise(self, question: Question) -> JsonObject | None:
        if understood(_DIFF, question.words):
            return {"diff": True}
        return {"diff": False} if understood(_STATUS, question.words) else None

    def next(self, wish: JsonObject, question: Question) -> Move:
        if not question.returns:
            return Act([("git_status", {}), ("git_diff", {"ref": "HEAD"})])
        status, diff = (question.returns[0], question.returns[-1])
        if status.status != "success":
            return Decline(why(status))
        text = diff.content if diff.status == "success" else ""
        branch, changes = read_status(status.content)
        changes = read_diff(text, changes)
        if not changes:
            return Say(f"Nothing is changed: everything is committed, {_branch(branch)}.")
        if wish["diff"] and text.startswith("diff"):
            lines = text.splitlines()
            more = f"\n… {len(lines) - _LINES} lines more" if len(lines) > _LINES else ""
            return Say("\n".join(["```diff", *lines[:_LINES]]) + f"{more}\n```" + _untracked(changes))
        return Say(_told(branch, changes))


def _untracked(changes: list[Change]) -> str:
    new = [change.path for change in changes if change.how == "added" and not change.plus]
    return f"\n\nNew and not in the diff: {', '.join(f'`{path}`' for path in new[:_SHOWN])}." if new else ""


def _branch(branch: str) -> str:
    name, _, rest = branch.partition("...")
    name = name.removeprefix("No commits yet on ")
    upstream, _, distance = rest.partition(" [")
    words = f"on branch `{name}`"
    if "no branch" in branch:
        words = "on no branch (a commit is checked out)"
    ahead, behind = re.search(r"ahead (\d+)", distance), re.search(r"behind (\d+)", distance)
    if ahead:
        words += f", {ahead[1]} commit{'s' if ahead[1] != '1' else ''} ahead of `{upstream}`"
    if behind:
        words += f", {behind[1]} behind `{upstream}`"
    return words


def _told(branch: str, changes: list[Change]) -> str:
    plus, minus = sum(change.plus for change in changes), sum(change.minus for change in changes)
    count = f"{len(changes)} file{'s' if len(changes) != 1 else ''}"
    head = f"{count} changed {_branch(branch)}" + (f": +{plus} −{minus} lines." if plus or minus else ".")
    parts = [head[0].upper() + head[1:]]
    for title, chosen in (
        ("In conflict", [change for change in changes if change.how == "conflicted"]),
        ("Staged", [change for change in changes if change.staged and change.how != "conflicted"]),
        ("Changed", [change for change in changes if not change.staged and change.how in ("changed", "deleted")]),
        ("New, not tracked yet", [change for change in changes if not change.staged and change.how == "added"]),
    ):
        if chosen:
            lines = [f"- {_line(change)}" for change in chosen[:_SHOWN]]
            more = [f"- … {len(chosen) - _SHOWN} more"] if len(chosen) > _SHOWN else []
            parts.append("\n".join([f"**{title}**", *lines, *more]))
    return "\n\n".join(parts)


def _line(change: Change) -> str:
    size = f" +{change.plus} −{change.minus}" if change.plus or change.minus else ""
    how = f" ({change.how}{f' from {change.origin}' if change.origin else ''})" if change.how != "changed" else ""
    how = "" if change.how == "added" and not change.staged else how
    names = [*change.renames.values(), *change.added, *change.symbols()]
    symbols = f": {', '.join(f'`{name}`' for name in names[:4])}" if names else ""
    return f"`{change.path}`{how}{size}{symbols}"
