"""Reports uncommitted changes: branch, files and lines, or the diff itself."""

from sidecar.models.port import ToolReturn
from sidecar.offline.changes import Change, read_changes
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import phrases
from sidecar.offline.results import failure, quote_names
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject
from sidecar.wire.text import bulleted, plural

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

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        if _DIFF.match(question.words):
            return {"diff": True}
        return {"diff": False} if _STATUS.match(question.words) else None

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        if not question.returns:
            return Act([("git_status", {}), ("git_diff", {"ref": "HEAD"})])
        status, diff = question.returns[0], question.returns[1]
        if status.status != "success":
            return Decline(failure(status))
        text = diff.content if diff.status == "success" else ""
        branch, changes = _describe_branch(status), read_changes(status, diff)
        if not changes:
            return Say(f"No changes: everything is committed, {branch}.")
        if args["diff"] and text.startswith("diff"):
            lines = text.splitlines()
            more = f"\n… {plural(len(lines) - _LINES, 'more line')}" if len(lines) > _LINES else ""
            return Say("\n".join(["```diff", *lines[:_LINES]]) + f"{more}\n```" + _untracked(changes))
        return Say(_describe(branch, changes))


def _untracked(changes: list[Change]) -> str:
    new = [change.path for change in changes if change.how == "added" and not change.plus]
    return f"\n\nNew and not in the diff: {quote_names(new, _SHOWN)}." if new else ""


def _describe_branch(status: ToolReturn) -> str:
    name, upstream = status.details.get("name"), status.details.get("upstream")
    ahead, behind = status.details.get("ahead"), status.details.get("behind")
    words = f"on branch `{name}`" if name else "on no branch (a commit is checked out)"
    if isinstance(ahead, int) and ahead:
        words += f", {plural(ahead, 'commit')} ahead of `{upstream}`"
    if isinstance(behind, int) and behind:
        words += f", {plural(behind, 'commit')} behind `{upstream}`"
    return words


def _describe(branch: str, changes: list[Change]) -> str:
    plus, minus = sum(change.plus for change in changes), sum(change.minus for change in changes)
    size = f": +{plus} −{minus} lines." if plus or minus else "."
    parts = [f"{plural(len(changes), 'file')} changed {branch}{size}"]
    for title, chosen in (
        ("In conflict", [change for change in changes if change.how == "conflicted"]),
        ("Staged", [change for change in changes if change.staged and change.how != "conflicted"]),
        ("Changed", [change for change in changes if not change.staged and change.how in ("changed", "deleted")]),
        ("New, not tracked yet", [change for change in changes if not change.staged and change.how == "added"]),
    ):
        if chosen:
            parts.append("\n".join([f"**{title}**", *bulleted([_line(change) for change in chosen], _SHOWN)]))
    return "\n\n".join(parts)


def _line(change: Change) -> str:
    size = f" +{change.plus} −{change.minus}" if change.plus or change.minus else ""
    how = f" ({change.how}{f' from {change.origin}' if change.origin else ''})" if change.how != "changed" else ""
    how = "" if change.how == "added" and not change.staged else how
    names = [*change.renames.values(), *change.added, *change.symbols()]
    symbols = f": {', '.join(f'`{name}`' for name in names[:4])}" if names else ""
    return f"`{change.path}`{how}{size}{symbols}"
