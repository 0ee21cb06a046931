from typing import Annotated, Literal

from pydantic import Field, JsonValue

from tools.host import Host
from tools.spec import Arguments, Call, Output, PathlessArguments, ToolResult, ToolSpec


class TodoItem(Arguments):
    title: Annotated[str, Field(min_length=1, max_length=300)]
    state: Literal["pending", "running", "done", "failed"] = "pending"


class TodoArguments(PathlessArguments):
    items: Annotated[list[TodoItem], Field(max_length=50)]


class Todo:
    """The list belongs to the task: its events show it as a plan."""

    spec = ToolSpec(
        name="todo",
        description="Keep a list of what the task still needs, if it takes several steps. Send all of it each time.",
        arguments=TodoArguments,
        timeout=1.0,
    )

    async def run(self, args: TodoArguments, host: Host, call: Call, output: Output) -> ToolResult:
        done = sum(item.state == "done" for item in args.items)
        items: list[JsonValue] = [
            {"id": str(number), "title": item.title, "state": item.state} for number, item in enumerate(args.items, 1)
        ]
        summary = f"{done} of {len(args.items)} done"
        return ToolResult(f"Noted: {summary}.", {"items": items}, summary)
