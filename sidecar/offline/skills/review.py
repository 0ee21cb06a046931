"""Reviews changes, commits and files by rules, and gives the reviewer's verdict on a task."""

import json
import re

from sidecar.models.port import ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import group, is_path, part, phrases
from sidecar.offline.results import failure, format_place, records
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject
from sidecar.wire.text import plural

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
#: The rule of each kind of finding that you can ask for.
_RULES = {
    "secret|key|password": "secret",
    "todo": "todo",
    "debug": "debug",
    "conflict": "conflict",
    "syntax": "syntax",
    "import": "import",
    "missing test": "test",
    "leftover": "leftover",
}
_MOST = 200
_SHOWN = 100


class ReviewCode:
    example = "review my changes"
    tools = frozenset({"review_changes"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        words = question.words
        if _UNCOMMITTED.match(words):
            return {"args": {}, "rule": _rule(words)}
        if asked := _COMMIT.match(words):
            since = group(asked, "since")
            ref = f"{since}..HEAD" if since else group(asked, "ref") or "HEAD"
            return {"args": {"ref": ref}, "rule": _rule(words)}
        if _THIS.match(words):
            file = question.brief.current_file
            return {"args": {"paths": [file]} if file else {}, "rule": _rule(words)}
        if _ALL.match(words):
            return {"args": {"paths": ["."]}, "rule": _rule(words)}
        if asked := _FIND.match(words):
            path = group(asked, "path").removeprefix("./").rstrip("/")
            if path and not is_path(path):
                return None
            changes = re.search(r"\b(changes?|diff|edits?)$", words, re.IGNORECASE) is not None
            return {"args": {} if changes else {"paths": [path or "."]}, "rule": _rule(f"for {words}")}
        asked = _FILES.match(words)
        if asked is not None and is_path(asked["path"]):
            path = asked["path"].removeprefix("./").rstrip("/") or "."
            return {"args": {"paths": [path]}, "rule": _rule(words)}
        return None

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        last, call = question.last, args["args"]
        assert isinstance(call, dict)
        if last is None:
            return Act([("review_changes", call)])
        if last.status != "success":
            if not call and last.code == "no_git":
                # Without Git there are no changes to tell apart, so review everything.
                return Act([("review_changes", {"paths": ["."]})])
            return Decline(f"There is nothing to review: {failure(last)}")
        return Say(_describe_findings(last, str(args["rule"])) if args["rule"] else last.content)


def _rule(words: str) -> str:
    return next((rule for word, rule in _RULES.items() if re.search(rf"\bfor\b.*({word})", words, re.I)), "")


def _describe_findings(last: ToolReturn, rule: str) -> str:
    """The findings of one rule."""
    found = [each for each in records(last, "findings") if each.get("rule") == rule]
    lines = [f"- **{each['severity']}** `{format_place(each)}` {each['message']} Fix: {each['fix']}" for each in found]
    if not found:
        return "The review found none."
    return "\n".join([f"{plural(len(found), 'finding')}:", "", *lines[:_SHOWN]])


class ReviewVerdict:
    """The reviewer's step of a pipeline, after others have worked. No request asks for it in words."""

    example = "review my changes"
    tools = frozenset({"review_changes"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        if question.agent != "reviewer" or not question.brief.follows:
            return None
        return {"paths": list(question.brief.changed_lines[:_MOST])}

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        last = question.last
        if not args["paths"]:
            return Decline("The task changed nothing, so there is nothing to review.", code="not_understood")
        if last is None:
            return Act([("review_changes", args)])
        if last.status != "success":
            return Decline(f"The review failed: {failure(last)}", code="not_understood")
        files, issues = plural(len(question.brief.changed), "changed file"), find_issues(last)
        errors = [each for each in issues if each["severity"] == "error"]
        result = f"{plural(len(errors), 'error')} to fix" if errors else "worth a look" if issues else "no problems"
        return render_verdict(f"Reviewed {files} by rules: {result}.", issues)


def find_issues(back: ToolReturn) -> list[JsonObject]:
    """The findings of a review as the issues of a verdict."""
    return [
        {
            "file": each["path"],
            "line": each["line"] or None,
            "severity": each["severity"],
            "message": each["message"],
            "fix": each["fix"],
        }
        for each in records(back, "findings")
    ]


def render_verdict(summary: str, issues: list[JsonObject]) -> Say:
    passed = all(each["severity"] != "error" for each in issues)
    return Say(json.dumps({"passed": passed, "issues": issues, "summary": summary}, ensure_ascii=False))
