"""Makes a new project from a template: each agent does its part, and says what it really did."""

from dataclasses import asdict

from sidecar.offline.question import Question
from sidecar.offline.scaffold import looking, making, planning, proving, telling
from sidecar.offline.scaffold.wording import Asked, asked_for
from sidecar.offline.skill import Decline, Move
from sidecar.wire.base import JsonObject

#: What each agent needs for its part.
_TOOLS = {
    "planner": {"list_dir"},
    "coder": {"list_dir", "read_directory_tree", "create_file"},
    "terminal": {"run_tests", "run_command", "list_dir"},
    "reviewer": {"read_files"},
    "docs": {"read_directory_tree", "read_file", "edit_file"},
}


class Scaffold:
    example = "create a python package called textkit"
    tools = frozenset({"list_dir"})

    def recognise(self, question: Question) -> JsonObject | None:
        needed = _TOOLS.get(question.agent)
        if needed is None or not needed <= question.offered:
            return None
        asked = asked_for(question.words)
        return None if asked is None else asdict(asked)

    def next(self, wish: JsonObject, question: Question) -> Move:
        asked = Asked(**{name: str(value) for name, value in wish.items()})
        if asked.refusal:
            return Decline(asked.refusal)
        part = question.brief.part
        match question.agent:
            case "planner":
                return planning.plan(asked, question)
            case "coder" if part in ("configure", "fix1", "fix2"):
                return making.mend(asked, question)
            case "coder":
                return making.step(asked, question) if part else making.everything(asked, question)
            case "terminal":
                return proving.test(asked, question) if part == "test" else proving.install(asked, question)
            case "reviewer":
                return looking.review(asked, question)
            case _:
                return telling.document(asked, question)
