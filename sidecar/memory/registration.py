"""Names the memory's tools for the registry; each is imported on first use."""

from collections.abc import Sequence

from sidecar.memory.notes import Notes
from sidecar.memory.past import Past
from sidecar.memory.port import Memory
from sidecar.memory.skills import Skills
from tools.executor.registry import Loader
from tools.spec import AnyTool


def memory_tools(memory: Memory, past: Past, notes: Notes, skills: Skills) -> dict[str, Loader]:
    def find_code() -> AnyTool:
        from sidecar.memory.tools import FindCode

        return FindCode(memory)

    def impact() -> AnyTool:
        from sidecar.memory.tools import ImpactTool

        return ImpactTool(memory)

    def similar() -> AnyTool:
        from sidecar.memory.tools import SimilarTool

        return SimilarTool(memory)

    def tests_of() -> AnyTool:
        from sidecar.memory.tools import FileTestsTool

        return FileTestsTool(memory)

    def recall() -> AnyTool:
        from sidecar.memory.past_tools import Recall

        return Recall(past)

    def propose_note() -> AnyTool:
        from sidecar.memory.past_tools import ProposeNote

        return ProposeNote(notes)

    def skill() -> AnyTool:
        from sidecar.memory.skill_tool import SkillTool

        return SkillTool(skills)

    return {
        "find_code": find_code,
        "impact": impact,
        "similar": similar,
        "tests_of": tests_of,
        "recall": recall,
        "propose_note": propose_note,
        "skill": skill,
    }


class IndexStarter:
    """Begins to index a workspace when a task begins there; as a source of tools it has none."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def start(self, workspace: str) -> None:
        self._memory.start(workspace)

    def find(self, name: str, workspace: str, conversation: str = "") -> AnyTool | None:
        return None

    def tools(self, workspace: str, conversation: str = "") -> Sequence[AnyTool]:
        return ()

    async def prepare(self, name: str, workspace: str, conversation: str = "") -> None:
        return None
