"""Reviews what a person asks to have looked at: their changes, a commit, a file, a folder."""

import re

from sidecar.offline.output import why
from sidecar.offline.phrases import group, part, phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.offline.wording import is_path
from sidecar.wire.base import JsonObject

_LOOK = part("(re-?view|check|look (over|at|through)|inspect|audit|go over|examine|proof-?read|analy[sz]e)")
_FAULTS = part(
    "(problems?|issues?|bugs?|errors?|mistakes?|secrets?|keys?|passwords?|todos?|debug prints?|leftovers?|"
    "conflict markers?|conflicts?|syntax errors?|broken imports?|missing tests?)"
)
_FOR = part(
    "( for (any |all )?{faults}( (or|and) {faults})*| and (tell me|say) (what|if|whether).{0,60})?", faults=_FAULTS
)
_CHANGES = part(
    "(all )?({the}({which} )?(changes?|diff|edits?|work|modifications)|what i (changed|did|wrote)|what (has )?changed)",
    which="(?:uncommitted|unstaged|staged|local|current|latest|recent)",
)
_UNCOMMITTED = phrases(
    """
    {look} {changes}{for}
    (code )?review
    (do )?(an? )?(code )?review( of {changes})?
    (are there )?(any )?(problems?|issues?|bugs?|errors?|mistakes?) (in|with) {changes}
    is (everything|anything) (ok|okay|right|wrong|fine|good) with {changes}
    (is|are) {changes} (ok|okay|good|fine|correct|ready)( to (commit|merge|push))?
    """,
    look=_LOOK,
    changes=_CHANGES,
    **{"for": _FOR},
)
_COMMIT = phrases(
    """
    {look} (the |my )?(last|latest|previous|most recent|newest) commit{for}
    {look} (the )?(commit )?(?P<ref>HEAD([~^]\\d*)*|[0-9a-f]{7,40}){for}
    {look} (the )?(changes?|diff|commits?) (since|from|against) (?P<since>[\\w./~^-]+){for}
    """,
    look=_LOOK,
    **{"for": _FOR},
)
_FILES = phrases(
    """
    {look} (the )?((file|folder|directory|module|code in) )?{path}{for}
    (are there )?(any )?(problems?|issues?|bugs?|errors?|mistakes?) (in|with) {path}
    (do )?(an? )?(code )?review of {path}
    what( is|'s) wrong (with|in) {path}
    """,
    look=_LOOK,
    **{"for": _FOR},
)
_FIND = phrases(
    "((find|look for|check for|are there)( any| all)?|any)( the)? {found}( (in|of|with) ({changes}|{project}|{path}))?",
    found=r"(?:bugs|problems|issues|mistakes|secrets|todos|syntax\s+errors|(?:merge\s+)?conflict\s+markers|broken\s+imports|debug\s+prints)",
    changes=_CHANGES,
)
_THIS = phrases("{look} (this|the current|the open|my current)( file| code| module)?{for}", look=_LOOK, **{"for": _FOR})
_ALL = phrases("{look} {project}{for}", look=_LOOK, **{"for": _FOR})
#: What is asked for in particular, and the words of the findings about it.
_ONLY = {
    "secret|key|password": r"looks like|plain text|holds secrets",
    "todo": r"Open task",
    "debug": r"was left here",
    "conflict": r"conflict marker",
    "syntax": r"syntax error|not valid",
    "import": r"is imported",
    "missing test": r"untested|no test",
    "leftover": r"leftover|was left here",
}


class Review:
    example = "review my changes"
    tools = frozenset({"review_changes"})

    def recognise(self, question: Question) -> JsonObject | None:
        words = question.words
        if understood(_UNCOMMITTED, words):
            return {"args": {}, "only": _only(words)}
        if asked := understood(_COMMIT, words):
            since = group(asked, "since")
            ref = f"{since}..HEAD" if since else group(asked, "ref") or "HEAD"
            return {"args": {"ref": ref}, "only": _only(words)}
        if understood(_THIS, words):
            file = question.brief.current_file
            return {"args": {"paths": [file]} if file else {}, "only": _only(words)}
        if understood(_ALL, words):
            return {"args": {"paths": ["."]}, "only": _only(words)}
        if asked := understood(_FIND, words):
            path = group(asked, "path").removeprefix("./").rstrip("/")
            if path and not is_path(path):
                return None
            changes = re.search(r"\b(changes?|diff|edits?)$", words, re.IGNORECASE) is not None
            return {"args": {} if changes else {"paths": [path or "."]}, "only": _only(f"for {words}")}
        asked = understood(_FILES, words)
        if asked is not None and is_path(asked["path"]):
            path = asked["path"].removeprefix("./").rstrip("/") or "."
            return {"args": {"paths": [path]}, "only": _only(words)}
        return None

    def next(self, wish: JsonObject, question: Question) -> Move:
        last, args = question.last, wish["args"]
        assert isinstance(args, dict)
        if last is None:
            return Act([("review_changes", args)])
        if last.status != "success":
            if not args and "not a Git repository" in last.content:
                # Without Git nobody knows what changed: everything is looked at.
                return Act([("review_changes", {"paths": ["."]})])
            return Decline(f"There was nothing to review: {why(last)}")
        return Say(_filtered(last.content, str(wish["only"])))


def _only(words: str) -> str:
    return next((pattern for word, pattern in _ONLY.items() if re.search(rf"\bfor\b.*({word})", words, re.I)), "")


def _filtered(told: str, only: str) -> str:
    if not only:
        return told
    head, *lines = told.splitlines()
    kept = [line for line in lines if line.startswith("- ") and re.search(only, line)]
    what = head.partition(" by rules:")[0]
    return (
        "\n".join([f"{what}: {len(kept) or 'nothing'} found.", "", *kept])
        if kept
        else f"{what}: nothing of that was found."
    )
