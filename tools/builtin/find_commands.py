from pydantic import JsonValue

from tools.code.commands import find_commands
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec


class FindCommandsArguments(Arguments):
    pass


class FindCommands:
    spec = ToolSpec(
        name="find_commands",
        description="Find the commands that install, build, lint, type-check, format and start the project.",
        arguments=FindCommandsArguments,
        executor="hybrid",
        retryable=True,
    )

    async def run(self, args: FindCommandsArguments, host: Host, call: Call, output: Output) -> ToolResult:
        found = await find_commands(host)
        if not found:
            none = "No commands found in a Makefile, package.json, pyproject.toml, Cargo.toml or go.mod."
            return ToolResult(none, {"commands": {}}, "no command")
        commands: dict[str, JsonValue] = dict(found)
        lines = [f"{kind}: {command}" for kind, command in found.items()]
        return ToolResult("\n".join(lines), {"commands": commands}, ", ".join(found))
