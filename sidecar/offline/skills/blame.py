"""Says who wrote a line, in which commit, and when."""

import re

from sidecar.offline.output import why
from sidecar.offline.phrases import group, phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.offline.wording import is_path
from sidecar.wire.base import JsonObject

_ASKED = phrases(
    """
    (who|when was|which commit) (last )?{wrote} lines? (?P<line>\\d+)( ?(-|to|–) ?(?P<end>\\d+))? (of|in|from) {path}
    (who|which commit) (last )?{wrote} {path}
    (git )?blame (lines? (?P<line>\\d+)( ?(-|to|–) ?(?P<end>\\d+))? (of|in|from) )?{path}
    """,
    wrote="(?:wrote|changed|added|edited|touched|made|modified|introduced|is\\s+to\\s+blame\\s+for)",
)
_THIS = phrases(
    "(who|which commit) (last )?(wrote|changed|added|edited|touched|made|introduced) (this|the selected|these)"
    "( (line|lines|code|function|part|block|selection))?"
)
_BLAMED = re.compile(
    r"^\^?(?P<hash>[0-9a-f]+)\s+(?:\S+\s+)?\((?P<author>.+?)\s+(?P<date>\d{4}-\d\d-\d\d)\s+(?P<line>\d+)\)"
    r" ?(?P<text>.*)$"
)
_SHOWN = 12


class Blame:
    example = "who wrote line 12 of src/app.py?"
    tools = frozenset({"git_blame", "search_code"})

    def recognise(self, question: Question) -> JsonObject | None:
        if understood(_THIS, question.words):
            code = (question.brief.selected_code or "").strip("\n")
            return {"file": question.brief.current_file or "", "code": code}
        asked = understood(_ASKED, question.words)
        if asked is None or not is_path(asked["path"]):
            return None
        line = group(asked, "line") or group(asked, "path_line")
        if not line and not re.match(r"(git )?blame\b", question.words, re.IGNORECASE):
            return None
        wish: JsonObject = {"path": asked["path"].removeprefix("./")}
        return {**wish, "startLine": int(line), "endLine": int(group(asked, "end") or line)} if line else wish

    def next(self, wish: JsonObject, question: Question) -> Move:
        last = question.last
        if "path" in wish:
            return Act([("git_blame", wish)]) if last is None else _said(wish, question)
        first = str(wish["code"]).strip().partition("\n")[0].strip()
        if not wish["file"] or not first:
            return Decline("No line is selected. Say “who wrote line 12 of src/app.py?”.")
        if last is None:
            return Act([("search_code", {"query": first, "path": str(wish["file"])})])
        if last.tool == "git_blame":
            return _said(wish, question)
        hit = re.search(r":(\d+): ", last.content)
        if last.status != "success" or hit is None:
            return Decline("The selected line is not in the file as it is saved. Save it first, or name the line.")
        start = int(hit[1])
        end = start + str(wish["code"]).strip().count("\n")
        return Act([("git_blame", {"path": str(wish["file"]), "startLine": start, "endLine": end})])


def _said(wish: JsonObject, question: Question) -> Move:
    last = question.last
    assert last is not None
    if last.status != "success":
        return Decline(why(last))
    lines = [found for line in last.content.splitlines() if (found := _BLAMED.match(line))]
    if not lines:
        return Say(last.content)
    if len(lines) == 1:
        one = lines[0]
        if set(one["hash"]) == {"0"}:
            return Say(f"Line {one['line']} is not committed yet: `{one['text'].strip()}`")
        when = f"on {one['date']} (commit `{one['hash']}`)"
        return Say(f"{one['author']} wrote line {one['line']} {when}: `{one['text'].strip()}`")
    authors: dict[tuple[str, str, str], list[int]] = {}
    for each in lines:
        authors.setdefault((each["author"], each["date"], each["hash"]), []).append(int(each["line"]))
    ordered = sorted(authors.items(), key=lambda pair: -len(pair[1]))
    told = [
        f"- {author}, {date} (commit `{commit}`): {len(numbers)}, from line {numbers[0]} on"
        for (author, date, commit), numbers in ordered[:_SHOWN]
    ]
    more = [f"- … {len(ordered) - _SHOWN} more commits"] if len(ordered) > _SHOWN else []
    return Say(
        "\n".join([f"{len(lines)} lines, from {len(ordered)} commit{'s' if len(ordered) > 1 else ''}:", *told, *more])
    )
