"""Says what was committed: since a tag, a commit or a date, the last commits, or those of a file."""

import re

from sidecar.offline.output import why
from sidecar.offline.phrases import group, part, phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.offline.wording import is_path
from sidecar.wire.base import JsonObject

_SINCE = r"(?P<since>.{2,60})"
_ASKED = phrases(
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
_COMMIT = re.compile(r"^(?P<hash>[0-9a-f]{4,40}) (?P<date>\d{4}-\d\d-\d\d)T\S+ (?P<author>.+?): (?P<subject>.*)$")
_SHOWN = 30


class History:
    example = "what changed since yesterday?"
    tools = frozenset({"git_log"})

    def recognise(self, question: Question) -> JsonObject | None:
        asked = understood(_ASKED, question.words)
        if asked is None:
            return None
        if path := group(asked, "path"):
            one = re.match(r"who|when|by", question.words, re.IGNORECASE) is not None
            return {"path": path.removeprefix("./"), "limit": 1 if one else 10} if is_path(path) else None
        if since := group(asked, "since") or group(asked, "during"):
            start = since_of(since)
            return {"since": start, "limit": 200} if start else None
        if re.search(r"\bthe (last|latest) commit$", question.words, re.IGNORECASE):
            return {"limit": 1}
        return {"limit": int(group(asked, "count") or 10)}

    def next(self, wish: JsonObject, question: Question) -> Move:
        last = question.last
        if last is None:
            return Act([("git_log", wish)])
        if last.status != "success":
            return Decline(why(last))
        commits = _read(last.content)
        since = f" since {wish['since']}".replace("last", "the last") if "since" in wish else ""
        where = f" to `{wish['path']}`" if "path" in wish else ""
        if not commits:
            return Say(f"There is no commit{where}{since}.")
        if len(commits) == 1 and "since" not in wish:
            one = commits[0]
            return Say(f"The last commit{where} is `{one['hash']}` by {one['author']}, {one['date']}: {one['subject']}")
        return Say(_told(commits, f"{where}{since}"))


def since_of(words: str) -> str:
    """What Git can be asked for; nothing if the words name no tag, commit or date."""
    words = words.strip(" `'\"“”")
    if _TAG.fullmatch(words):
        return "last tag"
    if re.fullmatch(_DATED, words, re.IGNORECASE):
        plain = re.sub(r"^(?:the|last|past) (?=.*day$|\d)|^the ", "", words.lower())
        return {"this week": "7 days ago", "this month": "30 days ago", "this morning": "midnight"}.get(plain, plain)
    plain = re.sub(r"^(?:the\s+)?(?:tag|commit|version|release|branch)\s+", "", words, flags=re.IGNORECASE)
    return plain if re.fullmatch(r"[\w./@^~-]+", plain) else ""


def _read(text: str) -> list[re.Match[str]]:
    return [found for line in text.splitlines() if (found := _COMMIT.match(line))]


def _told(commits: list[re.Match[str]], what: str) -> str:
    people = len({commit["author"] for commit in commits})
    by = f" by {people} people" if people > 1 else f" by {commits[0]['author']}"
    head = f"{len(commits)} commit{'s' if len(commits) > 1 else ''}{what}{by}, the newest first:"
    lines = [f"- `{each['hash']}` {each['date']} {each['subject']}" for each in commits[:_SHOWN]]
    more = [f"- … {len(commits) - _SHOWN} more"] if len(commits) > _SHOWN else []
    return "\n".join([head, "", *lines, *more])
