from typing import Annotated, Literal

from pydantic import Field

from tools.host import Host
from tools.spec import Call, Output, PathlessArguments, ToolResult, ToolSpec


class SetModeArguments(PathlessArguments):
    mode: Annotated[Literal["edit"], Field(description="edit: get the tools that change files and run commands.")]
    why: Annotated[str, Field(min_length=1, max_length=1_000, description="What you would change, for the user.")]


class SetMode:
    """The approval is the point: the agent loop gives the tools when this call succeeds."""

    spec = ToolSpec(
        name="set_mode",
        description="Ask the user for the right to edit, if the request wants a change.",
        arguments=SetModeArguments,
        timeout=1.0,
        parallel=False,
        asks="it asks for the right to change files and run commands in this task",
    )

    async def run(self, args: SetModeArguments, host: Host, call: Call, output: Output) -> ToolResult:
        return ToolResult("You may edit now. Make the change and check it.", {"mode": args.mode}, "may edit")
