from typing import Annotated, Literal

from pydantic import Field

from tools.errors import ToolError
from tools.host import Host
from tools.spec import Call, Output, PathlessArguments, ToolResult, ToolSpec


class DelegateArguments(PathlessArguments):
    task: Annotated[
        str, Field(min_length=1, max_length=20_000, description="All it needs to know; it sees nothing else.")
    ]
    tools: Annotated[Literal["read", "all"], Field(description="all: as many as you have.")] = "read"
    max_turns: Annotated[int, Field(ge=1, le=30)] = 10


class Delegate:
    """Only its description: the agent loop answers the call with an agent of its own."""

    spec = ToolSpec(
        name="delegate",
        description="Give a bounded question to another agent with a fresh context; only its answer comes back.",
        arguments=DelegateArguments,
        timeout=3_600.0,
    )

    async def run(self, args: DelegateArguments, host: Host, call: Call, output: Output) -> ToolResult:
        raise ToolError("Only an agent at work on a task can delegate.", code="no_task")
