"""Names the memory's tools for the registry; each is imported on first use."""

from sidecar.memory.port import Memory
from tools.executor.registry import Loader
from tools.spec import AnyTool


def memory_tools(memory: Memory) -> dict[str, Loader]:
    def find_code() -> AnyTool:
        from sidecar.memory.tools import FindCode

        return FindCode(memory)

    def impact() -> AnyTool:
        from sidecar.memory.tools import Impact

        return Impact(memory)

    return {"find_code": find_code, "impact": impact}
