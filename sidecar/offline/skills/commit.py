"""Suggests a commit message, and commits the changes, except for secrets and conflicts."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from pydantic import JsonValue

from sidecar.models.port import ToolReturn
from sidecar.offline.changes import Change, is_similar, read_changes, without_leftovers
from sidecar.offline.message import commit_message
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import part, phrases
from sidecar.offline.results import failure, format_place, is_declined, may_have_run, quote_names, records
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject
from sidecar.wire.text import plural
from tools.builtin.read_file import strip_line_numbers

_MESSAGE = phrases(
    """
    {write}( me)?( an?| the| some)? (good |conventional |short )?(git )?commit messages?( (for|from|of) {changes})?
    what (should|would|could) (the|my|a good) commit message (be|say)
    (good )?commit message( for {changes})?
    how (should|would) (i|you) (describe|word) (this|my) commit
    """,
    write=r"(?:write|suggest|draft|generate|propose|create|make|give\s+me|come\s+up\s+with|compose)",
    changes=r"(?:these|(?:the|my|our)\s+(?:(?:current|uncommitted|staged|latest)\s+)?)?(?:\s*(?:changes?|diff|work|edits))",
)
_CHANGES = part("(these|{the}(current |uncommitted |latest )?(changes?|diff|work|edits|files))")
_WITH = (
    r"(?P<rest>\s*[,:]?\s*(?:with|using|and\s+use)\s+(?:(?:the|a|this)\s+)?(?:commit\s+)?(?:message|text)\s*:?\s*.+|"
    r"\s*:\s*.+|\s+(?:-m|as)\s+[\"'“].+)?"
)
_COMMIT = phrases(
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
#: Findings of the review that stop a commit if they are errors.
_STOPS = frozenset({"secret", "conflict"})


_MOST = 6


class PossibleMoves(NamedTuple):
    """Files moved without `git mv`: a deleted file and a similar new one, and new folders, which Git doesn't list."""

    pairs: list[tuple[Change, str]]
    folders: list[str]

    @classmethod
    def among(cls, changes: Sequence[Change]) -> "PossibleMoves":
        gone = [each for each in changes if each.how == "deleted" and each.lines]
        new = [each.path for each in changes if each.how == "added" and not each.staged]
        pairs = [
            (each, f"{path}{each.name}" if path.endswith("/") else path)
            for each in gone
            for path in new
            if path.endswith("/") or PurePosixPath(path).suffix == PurePosixPath(each.path).suffix
        ]
        folders = [path for path in new if path.endswith("/")] if gone else []
        return cls(pairs[:_MOST], folders[:_MOST])

    def look(self) -> Act | None:
        """The calls whose results `resolve` takes."""
        reads: list[tuple[str, JsonObject]] = [("read_file", {"path": path}) for _, path in self.pairs]
        lists: list[tuple[str, JsonObject]] = [("list_dir", {"path": path}) for path in self.folders]
        return Act([*reads, *lists]) if reads else None

    def resolve(self, changes: Sequence[Change], returns: Sequence[ToolReturn]) -> list[Change]:
        """The changes with each move as one change."""
        found: dict[str, Change] = {}
        for (old, path), back in zip(self.pairs, returns, strict=False):
            taken = any(each.origin == old.path for each in found.values()) or path in found
            if not taken and back.status == "success":
                lines = strip_line_numbers(back.content).splitlines()
                if is_similar(lines, [line.text for line in old.lines]):
                    found[path] = Change(path, "renamed", origin=old.path)
        listed = zip(self.folders, returns[len(self.pairs) :], strict=False)
        # A folder that holds only moved files needs no mention.
        covered = {
            folder
            for folder, back in listed
            if (entries := records(back, "entries")) and all(str(each["path"]) in found for each in entries)
        }
        gone = {*found, *covered, *(each.origin for each in found.values())}
        return [*(each for each in changes if each.path not in gone), *found.values()]


class CommitMessage:
    example = "suggest a commit message"
    tools = frozenset({"git_status", "git_diff", "read_file", "list_dir"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        return {} if _MESSAGE.match(question.words) else None

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        if not question.returns:
            return Act([("git_status", {}), ("git_diff", {"ref": "HEAD"})])
        status, diff, *looked = question.returns
        if status.status != "success":
            return Decline(failure(status))
        changes, _ = without_leftovers(read_changes(status, diff))
        moves = PossibleMoves.among(changes)
        if not looked and (look := moves.look()):
            return look
        changes = moves.resolve(changes, looked)
        if not changes:
            return Decline("There are no changes to describe.")
        note = "It says what changed; you know why. Say “commit my changes” to commit with it."
        return Say(f"```\n{commit_message(changes)}\n```\n\n{note}")


class Commit:
    example = "commit my changes"
    tools = frozenset({"git_status", "git_diff", "git_add", "git_commit", "review_changes", "read_file", "list_dir"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        if _STAGED.match(question.words):
            return {"staged": True, "message": ""}
        asked = _COMMIT.match(question.words)
        if asked is None or re.match(r"git commit .*-", question.words):
            return None  # a command line runs as it is
        own = _OWN.search(asked["rest"].strip()) if asked["rest"] else None
        return {"staged": False, "message": own["text"].strip() if own else ""}

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        if not question.returns:
            return Act([("git_status", {}), ("git_diff", {"ref": "HEAD"}), ("review_changes", {})])
        status, diff, review, *rest = question.returns
        if status.status != "success":
            return Decline(failure(status))
        changes, leftovers = without_leftovers(read_changes(status, diff))
        changes = [change for change in changes if change.staged or not args["staged"]]
        if not changes:
            return Decline("Nothing is staged." if args["staged"] else "There are no changes to commit.")
        if stopped := _stop(changes, review):
            return stopped
        moves = PossibleMoves.among(changes)
        if not rest and not args["message"] and (look := moves.look()):
            return look
        last = question.returns[-1]
        if last.status != "success" and last.tool in ("git_add", "git_commit"):
            if may_have_run(last):
                return Say("The sidecar stopped in the middle of the commit; `git log` shows whether it was made.")
            words = f"Nothing was committed: {failure(last)}"
            return Say(words) if is_declined(last) else Decline(words)
        # Git no longer knows a file that is already deleted from the index.
        paths: list[JsonValue] = [each.path for each in changes[:1_000] if not (each.staged and each.how == "deleted")]
        if paths and not args["staged"] and last.tool not in ("git_add", "git_commit"):
            return Act([("git_add", {"paths": paths})])
        changes = moves.resolve(changes, [each for each in rest if each.tool in ("read_file", "list_dir")])
        message = str(args["message"]) or commit_message(changes)
        if last.tool != "git_commit":
            return Act([("git_commit", {"message": message})])
        first = last.content.partition("\n")[0]
        left = f"\n\nLeft out, because programs made it: {quote_names(leftovers)}." if leftovers else ""
        return Say(f"Committed {plural(len(changes), 'file')}:\n\n```\n{message}\n```\n\n{first}{left}".rstrip())


def _stop(changes: list[Change], review: ToolReturn) -> Decline | None:
    """Stops the commit because of conflicts or secrets."""
    if conflicts := [change.path for change in changes if change.how == "conflicted"]:
        return Decline(f"Nothing was committed: there are conflicts in {quote_names(conflicts)}. Resolve them first.")
    found = [
        f"- `{format_place(each)}` {each['message']}"
        for each in records(review, "findings")
        if each["severity"] == "error" and each.get("rule") in _STOPS
    ]
    if not found:
        return None
    head = "Nothing was committed, because the review found:"
    return Decline("\n".join([head, *found[:5], "To commit it anyway, say “run `git commit …`”."]))
