"""MCP servers as panels and scripts see them."""

from typing import Annotated

from pydantic import Field

from sidecar.wire.base import JsonObject, Wire, optional
from sidecar.wire.tasks import ShortText


class McpServerInfo(Wire):
    name: str
    state: Annotated[
        str,
        Field(
            description="`stopped` (started when first used), `starting`, `ready`, `failed`, `disabled`, or `changed`: "
            "its tools are blocked until you accept them."
        ),
    ]
    tools: Annotated[list[str], Field(description="The names by which agents call them.")]
    pinned: Annotated[bool, Field(description="Whether you accepted exactly these tools.")]
    error: str | None = optional()
    own: Annotated[bool, Field(description="In your configuration directory; else the workspace brings it.")]
    where: Annotated[str, Field(description="Its command or address.")]
    left_out: Annotated[list[str], Field(description="Tools that can't be used, and why.")] = []
    diff: Annotated[str | None, Field(description="What you have not accepted yet.")] = optional()


class McpList(Wire):
    servers: list[McpServerInfo]
    file: Annotated[str, Field(description="Your own `mcp.json`.")]


class McpServerRequest(Wire):
    name: ShortText
    workspace: ShortText | None = None


class McpTool(Wire):
    name: str
    description: str
    read_only: Annotated[bool, Field(description="What the server says; it decides nothing.")]


class McpTest(Wire):
    server: McpServerInfo
    tools: list[McpTool]
    digest: Annotated[str | None, Field(description="Of the tool set, to accept exactly this one.")] = optional()


class McpAccept(Wire):
    name: ShortText
    workspace: ShortText | None = None
    digest: Annotated[ShortText, Field(description="From the test that showed you the tools.")]


class McpAdd(Wire):
    """An entry of `mcp.json`: `command`, `args`, `env`, or `url`, `headers`; also `grants`, `allow`, `timeout`."""

    name: ShortText
    entry: JsonObject


class McpRemove(Wire):
    name: ShortText


class McpLend(Wire):
    """Servers that an editor hands over with a session; an empty set withdraws them."""

    session: Annotated[ShortText, Field(description="The `conversationId` of the tasks that may use them.")]
    workspace: ShortText
    servers: Annotated[
        dict[ShortText, JsonObject],
        Field(max_length=32, description="Entries of `mcp.json`, by name; nothing in them is expanded."),
    ]


class McpResource(Wire):
    mention: Annotated[str, Field(description="Write this in a task to attach it.")]
    server: str
    uri: str
    name: str
    description: str
    template: Annotated[bool, Field(description="Fill in the parts in braces.")]


class McpPromptArgument(Wire):
    name: str
    description: str
    required: bool


class McpPrompt(Wire):
    command: Annotated[str, Field(description="Begin a task with this, then its arguments.")]
    server: str
    name: str
    description: str
    arguments: list[McpPromptArgument]


class McpReferenceList(Wire):
    resources: list[McpResource]
    prompts: list[McpPrompt]
