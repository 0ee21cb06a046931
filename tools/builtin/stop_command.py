from sidecar.wire.text import plural
from tools.builtin.run_command import process_details
from tools.host import Host
from tools.spec import Call, Output, PathlessArguments, ToolResult, ToolSpec


class StopCommandArguments(PathlessArguments):
    command_id: str


class StopCommand:
    spec = ToolSpec(
        name="stop_command",
        description="Stop a background command with everything it started, and show its output.",
        arguments=StopCommandArguments,
        # What is asked about the command after this must not be answered before.
        parallel=False,
        executor="hybrid",
    )

    async def run(self, args: StopCommandArguments, host: Host, call: Call, output: Output) -> ToolResult:
        result = await host.stop(args.command_id)
        ended = (
            f"Stopped {plural(len(result.killed), 'process', 'processes')}."
            if result.killed
            else f"It had already ended with {result.ending}."
        )
        return ToolResult(f"{result.output.rstrip()}\n{ended}".lstrip("\n"), process_details(result), ended)
