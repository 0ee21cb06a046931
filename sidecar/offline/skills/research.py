"""Answers a research question with the places that the memory finds, and says that no model reasoned about them."""

import json

from sidecar.models.port import ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.results import failure, records
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject

_HITS = 8
_READ = 3
_SHOWN_LINES = 60


class Research:
    example = "/research how are sessions stored?"
    tools = frozenset({"find_code", "impact", "read_file"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        if question.agent != "researcher" or not question.words:
            return None
        return {"query": question.words[:2_000], "limit": _HITS}

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        if not question.returns:
            return Act([("find_code", args)])
        search = question.returns[0]
        if search.status != "success":
            return Decline(failure(search))
        hits = records(search, "hits")
        if not hits:
            building = " The index is still being built; ask again later." if _unfinished(search) else ""
            return Say(_answer(f"Nothing in this workspace matches the question.{building}", []))
        if len(question.returns) == 1:
            reads: list[tuple[str, JsonObject]] = [("read_file", _range(hit)) for hit in hits[:_READ]]
            best = hits[0]
            named: JsonObject = {"path": best["path"], "depth": 1}
            if best.get("symbol"):
                named["symbol"] = best["symbol"]
            return Act([*reads, ("impact", named)])
        return Say(_answer(_conclude(hits, question.last), hits))


def _unfinished(answer: ToolReturn) -> bool:
    """Whether the index didn't hold all files yet."""
    return answer.details.get("state", "ready") != "ready"


def _range(hit: JsonObject) -> JsonObject:
    first, last = int(str(hit["line"])), int(str(hit["endLine"]))
    return {"path": hit["path"], "startLine": first, "endLine": min(last, first + _SHOWN_LINES)}


def _conclude(hits: list[JsonObject], impact: ToolReturn | None) -> str:
    best = f"`{hits[0]['symbol'] or hits[0]['path']}`"
    users = records(impact, "hits") if impact is not None and impact.status == "success" else []
    used = ", ".join(dict.fromkeys(f"`{each['path']}`" for each in users[:5]))
    unused = "" if impact is None or _unfinished(impact) else f" Nothing else is known to use {best}."
    follow = f" {best} is used by {used}." if used else unused
    return (
        f"These places fit the question best, {best} first.{follow} The offline model finds and quotes code, but can't "
        "reason about it: configure a language model for an answer in words."
    )


def _answer(text: str, hits: list[JsonObject]) -> str:
    sources = [
        {"path": hit["path"], "lines": f"{hit['line']}-{hit['endLine']}", "why": f"{hit['kind']} {hit['symbol']}: "
         f"{hit['why']}".strip()}
        for hit in hits
    ]  # fmt: skip
    return json.dumps({"answer": text, "sources": sources}, ensure_ascii=False)
