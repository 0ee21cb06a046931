"""Adds a first test of a function, and runs it."""

import re

from sidecar.offline.output import why
from sidecar.offline.phrases import group, part, phrases, understood
from sidecar.offline.question import Question
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.offline.wording import HERE, is_path, name_group, note_of, path_group, selected_name
from sidecar.wire.base import JsonObject

_ASKED = phrases(
    """
    (add|write|create|generate|make) {test} (for|of|to) {target}
    cover {target} with {test}
    """,
    test=part(
        "((an?|some|the|one|first|another) )*((unit|first|simple|basic|small) )*"
        "(tests?|test skeletons?|unittests?|test cases?|specs?)"
    ),
    target=part(
        r"({whole}|{this}|{kind}{path}(\(\))?)( (in|from|of) ({here}|(the )?(file )?{file}))?",
        whole=HERE.replace("here>", "whole>").replace("|here)", ")"),
        this=r"(?P<this>it|the\s+selection|this(?:\s+(?:function|class|method))?)",
        here=HERE,
        kind=part("((the|my|our) )?((function|method|class|component|helper|hook) )?"),
        file=path_group("file"),
    ),
)
_NAME = re.compile(name_group("name"))
_TO = re.compile(r" to (?P<path>\S+); it asserts")
_RAN = re.compile(r"\w+: \d+ passed")
_PASSED = re.compile(r"\w+: \d+ passed, 0 failed")


class TestSkeletons:
    example = "add a test for `parse_line`"
    tools = frozenset({"add_test", "run_tests"})

    def recognise(self, question: Question) -> JsonObject | None:
        asked = understood(_ASKED, question.words)
        if asked is None:
            return None
        name, open_file = group(asked, "path"), question.brief.current_file or ""
        if group(asked, "whole") or is_path(name):
            return {"whole": name or open_file or "src/app.py"}
        if group(asked, "this"):
            name = selected_name(question) or ""
        elif not _NAME.fullmatch(name):
            return None
        file = open_file if group(asked, "here") or group(asked, "this") else group(asked, "file")
        if file and not is_path(file):
            return None
        return {"symbol": name, **({"path": file.removeprefix("./")} if file else {})}

    def next(self, wish: JsonObject, question: Question) -> Move:
        if wish.get("whole"):
            return Decline(
                f"The offline model adds a test for one function at a time: “add a test for `name` in {wish['whole']}”."
            )
        if not wish["symbol"]:
            return Decline("Nothing that has a name is selected. Say “add a test for `name`”.")
        less: JsonObject = {**wish, "call": False, "replace": True}
        last = question.last
        if last is None:
            # Sent back, it claims less than it did.
            return Act([("add_test", less if question.brief.part.startswith("fix") else wish)])
        if last.tool == "add_test":
            place = _TO.search(last.content)
            if last.status != "success" or place is None:
                return Decline(why(last))
            return Act([("run_tests", {"target": place["path"]})])
        written = [each for each in question.returns if each.tool == "add_test"]
        note = note_of(written[-1])
        if last.status == "success" and _PASSED.search(last.content):
            return Say(f"{note}\n\n{last.content.strip().splitlines()[0]}")
        if not _RAN.search(last.content):
            return Say(f"{note}\n\nIt was not run: {why(last).splitlines()[0]}")
        if len(written) == 1 and "only" not in note.partition("it asserts")[2]:
            # What was made up did not fit: then only what is certain is claimed.
            return Act([("add_test", less)])
        return Say(f"{note}\n\nIt did not pass here:\n\n```\n{last.content.strip()[-1_500:]}\n```")
