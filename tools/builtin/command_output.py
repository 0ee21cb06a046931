from typing import Annotated

from pydantic import Field

from tools.builtin.run_command import process_details
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec


class CommandOutputArguments(Arguments):
    """Asked after the stops and commands of the same turn: the whole workspace is what it touches."""

    command_id: str
    wait_ms: Annotated[int, Field(ge=0, le=600_000, description="How long to wait for its end, up to 600000.")] = 0

    def time_limit(self, default: float) -> float:
        return default + self.wait_ms / 1000


class CommandOutput:
    spec = ToolSpec(
        name="command_output",
        description="Show what a background command has printed so far, and whether it still runs.",
        arguments=CommandOutputArguments,
        executor="hybrid",
    )

    async def run(self, args: CommandOutputArguments, host: Host, call: Call, output: Output) -> ToolResult:
        result = await host.poll(args.command_id, args.wait_ms / 1000)
        state = "It still runs." if result.running else f"It ended with {result.ending}."
        details = {**process_details(result), "running": result.running, "startedBy": args.command_id}
        return ToolResult(f"{result.output.rstrip()}\n{state}".lstrip("\n"), details, state)
