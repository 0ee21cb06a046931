"""Tools that a shell brings, as the executor sees them."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sidecar.wire.bridge import Hello, ShellToolSpec
from tools.errors import HostGone
from tools.host import Host
from tools.mcp.listing import clean, clean_schema, schema_problem
from tools.mcp.tool import ExternalArguments
from tools.spec import Call, External, Output, ToolResult, ToolSpec

_SECONDS = 120.0


class ShellTool:
    """The bridge carries it out; this only says what it is."""

    def __init__(self, told: ShellToolSpec, shell: str) -> None:
        self.spec = ToolSpec(
            told.name,
            clean(told.description),
            ShellToolArguments,
            parameters=clean_schema(told.parameters),
            executor="shell",
            timeout=_SECONDS,
            parallel=told.read_only if told.parallel is None else told.parallel,
            effects="none" if told.read_only else "command",
            external=External(f"your editor ({shell})", only_reads=told.read_only, yours=True),
        )

    async def run(self, args: Any, host: Host, call: Call, output: Output) -> ToolResult:
        raise HostGone(f"No shell that offers {self.spec.name} is connected.")


class ShellToolArguments(ExternalArguments):
    """The shell checks them."""

    def time_limit(self, default: float) -> float:
        return default


def own_tools(hello: Hello) -> Sequence[ShellTool]:
    """The tools that the shell describes, except those with a schema that can't be used."""
    return _make(hello.shell.name, tuple(each.to_json() for each in hello.tools if isinstance(each, ShellToolSpec)))


@lru_cache(maxsize=64)
def _make(shell: str, told: tuple[str, ...]) -> Sequence[ShellTool]:
    specs = [ShellToolSpec.model_validate_json(each) for each in told]
    return [ShellTool(each, clean(shell)[:60]) for each in specs if not schema_problem(each.parameters)]
