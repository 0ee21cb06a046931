"""Answers from the Git history: commits since a date or tag, and who wrote a line."""

import re

from sidecar.models.port import ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import group, is_path, part, phrases
from sidecar.offline.results import failure, records
from sidecar.offline.skill import Act, Decline, Move, OneCall, Say
from sidecar.wire.base import JsonObject
from sidecar.wire.text import bulleted, plural

_SINCE = r"(?P<since>.{2,60})"
_LOG = phrases(
    """
    what( has|'s|s)? (changed|happened|been done|is new|new) since {since}
    (what did (we|i|they|people) (do|change|commit)|what was (done|changed|committed)) (since )?{since}
    what( has|'s)? (changed|happened|been done|was done)( in)?( the)? {during}
    {show}(the |all )?(commits|changes|history|log) since {since}
    {show}(the |my )?(last|latest|recent) ((?P<count>\\d{{1,3}}) )?(commits|changes)
    ({show})?(the )?git (log|history)
    ({show})?(the )?(history|log|commits) (of|for) {path}
    what (is|was|'s) (in )?the (last|latest) commit
    who (last |recently )?(changed|edited|touched|modified) {path}( last)?
    (when|by whom) was {path} (last )?changed
    """.replace("{{", "{").replace("}}", "}"),
    since=_SINCE,
    during=r"(?P<during>(?:last|past)\s+.{2,30}|this\s+(?:week|month)|today|yesterday)",
)
_TAG = re.compile(r"(?:the\s+)?(?:last|latest|previous|newest)\s+(?:tag|release|version)", re.IGNORECASE)
_DATED = part(
    r"(the )?((last|past) (?=\d))?(today|yesterday|midnight|last (week|month|year)|"
    r"(last )?(mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"\d{1,4} (minute|hour|day|week|month|year)s?( ago)?|\d{4}-\d\d-\d\d|this (week|month|morning))"
)
_SHOWN = 30
_BLAME = phrases(
    """
    (who|when was|which commit) (last )?{wrote} lines? (?P<line>\\d+)( ?(-|to|–) ?(?P<end>\\d+))? (of|in|from) {path}
    (who|which commit) (last )?{wrote} {path}
    (git )?blame (lines? (?P<line>\\d+)( ?(-|to|–) ?(?P<end>\\d+))? (of|in|from) )?{path}
    """,
    wrote="(?:wrote|changed|added|edited|touched|made|modified|introduced|is\\s+to\\s+blame\\s+for)",
)
_BLAME_THIS = phrases(
    "(who|which commit) (last )?(wrote|changed|added|edited|touched|made|introduced) (this|the selected|these)"
    "( (line|lines|code|function|part|block|selection))?"
)
_COMMITS = 12


class History(OneCall):
    example = "what changed since yesterday?"
    tool = "git_log"
    tools = frozenset({"git_log"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        asked = _LOG.match(question.words)
        if asked is None:
            return None
        if path := group(asked, "path"):
            one = re.match(r"who|when|by", question.words, re.IGNORECASE) is not None
            return {"path": path.removeprefix("./"), "limit": 1 if one else 10} if is_path(path) else None
        if since := group(asked, "since") or group(asked, "during"):
            start = _parse_start(since)
            return {"since": start, "limit": 200} if start else None
        if re.search(r"\bthe (last|latest) commit$", question.words, re.IGNORECASE):
            return {"limit": 1}
        return {"limit": int(group(asked, "count") or 10)}

    def answer(self, args: JsonObject, last: ToolReturn) -> str:
        commits = records(last, "commits")
        since = f" since {args['since']}".replace("last", "the last") if "since" in args else ""
        where = f" to `{args['path']}`" if "path" in args else ""
        if not commits:
            return f"No commits{where}{since}."
        if len(commits) == 1 and "since" not in args:
            one = commits[0]
            return f"The last commit{where} is `{one['hash']}` by {one['author']}, {_day(one)}: {one['subject']}"
        people = {str(commit["author"]) for commit in commits}
        by = f"{len(people)} people" if len(people) > 1 else people.pop()
        lines = [f"`{each['hash']}` {_day(each)} {each['subject']}" for each in commits]
        head = f"{plural(len(commits), 'commit')}{where}{since} by {by}, newest first:"
        return "\n".join([head, "", *bulleted(lines, _SHOWN)])


def _day(commit: JsonObject) -> str:
    return str(commit["date"]).partition("T")[0]


def _parse_start(words: str) -> str:
    """A tag, a commit or a date for Git; "" if the words name none."""
    words = words.strip(" `'\"“”")
    if _TAG.fullmatch(words):
        return "last tag"
    if re.fullmatch(_DATED, words, re.IGNORECASE):
        plain = re.sub(r"^(?:the|last|past) (?=.*day$|\d)|^the ", "", words.lower())
        return {"this week": "7 days ago", "this month": "30 days ago", "this morning": "midnight"}.get(plain, plain)
    plain = re.sub(r"^(?:the\s+)?(?:tag|commit|version|release|branch)\s+", "", words, flags=re.IGNORECASE)
    return plain if re.fullmatch(r"[\w./@^~-]+", plain) else ""


class Blame:
    example = "who wrote line 1 of {file}?"
    tools = frozenset({"git_blame", "search_code"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        if _BLAME_THIS.match(question.words):
            code = (question.brief.selected_code or "").strip("\n")
            return {"file": question.brief.current_file or "", "code": code}
        asked = _BLAME.match(question.words)
        if asked is None or not is_path(asked["path"]):
            return None
        line = group(asked, "line") or group(asked, "path_line")
        if not line and not re.match(r"(git )?blame\b", question.words, re.IGNORECASE):
            return None
        args: JsonObject = {"path": asked["path"].removeprefix("./")}
        return {**args, "startLine": int(line), "endLine": int(group(asked, "end") or line)} if line else args

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        last = question.last
        if last is not None and last.tool == "git_blame":
            return Say(_describe_authors(last)) if last.status == "success" else Decline(failure(last))
        if "path" in args:
            return Act([("git_blame", args)])
        first, _, rest = str(args["code"]).strip().partition("\n")
        if not args["file"] or not first:
            return Decline("No line is selected. Name the file and the line that you mean.")
        if last is None:
            return Act([("search_code", {"query": first.strip(), "path": str(args["file"])})])
        hits = records(last, "matches")
        if not hits:
            return Decline("The selected line is not in the saved file. Save it first, or name the line.")
        start = hits[0]["line"]
        assert isinstance(start, int)
        end = start + (rest.count("\n") + 1 if rest else 0)
        return Act([("git_blame", {"path": str(args["file"]), "startLine": start, "endLine": end})])


def _describe_authors(last: ToolReturn) -> str:
    lines = records(last, "lines")
    if not lines:
        return last.content
    if len(lines) == 1:
        one = lines[0]
        text = f"`{str(one['text']).strip()}`"
        if set(str(one["hash"])) == {"0"}:
            return f"Line {one['line']} is not committed yet: {text}"
        return f"{one['author']} wrote line {one['line']} on {one['date']} (commit `{one['hash']}`): {text}"
    authors: dict[tuple[object, ...], list[object]] = {}
    for each in lines:
        authors.setdefault((each["author"], each["date"], each["hash"]), []).append(each["line"])
    ordered = sorted(authors.items(), key=lambda pair: -len(pair[1]))
    described = [
        f"- {author}, {date} (commit `{commit}`): {plural(len(numbers), 'line')}, from line {numbers[0]} on"
        for (author, date, commit), numbers in ordered[:_COMMITS]
    ]
    more = [f"- … {plural(len(ordered) - _COMMITS, 'more commit')}"] if len(ordered) > _COMMITS else []
    return "\n".join([f"{plural(len(lines), 'line')}, from {plural(len(ordered), 'commit')}:", *described, *more])
