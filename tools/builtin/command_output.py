from tools.builtin.run_command import process_details
from tools.host import Host
from tools.spec import Call, Output, PathlessArguments, ToolResult, ToolSpec


class CommandOutputArguments(PathlessArguments):
    command_id: str


class CommandOutput:
    spec = ToolSpec(
        name="command_output",
        description="Show what a background command has printed so far, and whether it still runs.",
        arguments=CommandOutputArguments,
        executor="hybrid",
    )

    async def run(self, args: CommandOutputArguments, host: Host, call: Call, output: Output) -> ToolResult:
        result = await host.poll(args.command_id)
        state = "It still runs." if result.running else f"It ended with exit code {result.exit_code}."
        details = {**process_details(result), "running": result.running}
        return ToolResult(f"{result.output}\n{state}".lstrip("\n"), details, state)
