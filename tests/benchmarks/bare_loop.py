"""A bare agent loop, as the smallest agents have it: one prompt, four tools, no plan, no review, no verification."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from sidecar.models.encoding import encode_json
from sidecar.models.port import ModelTurn, Reply, Stop, ToolReturn, ToolTurn, ToolUse, Turn, UserTurn
from sidecar.wire.base import JsonObject

SYSTEM = """You are an expert coding assistant. You help users by reading files, executing commands, editing code, and
writing new files.

Available tools:
- read: Read file contents
- bash: Execute bash commands (ls, grep, find, etc.)
- edit: Make surgical edits to files (find exact text and replace)
- write: Create or overwrite files

Guidelines:
- Use bash for file operations like ls, grep, find
- Use read to examine files before editing. Use this tool instead of cat or sed.
- Use edit for precise changes (old text must match exactly)
- Use write only for new files or complete rewrites
- When summarizing your actions, output plain text directly - do NOT use cat or bash to display what you did
- Be concise in your responses
- Show file paths clearly when working with files

Current working directory: {workspace}"""


def _tool(name: str, description: str, **fields: str) -> JsonObject:
    properties: JsonObject = {
        field: {"type": "number" if field in ("offset", "limit", "timeout") else "string", "description": about}
        for field, about in fields.items()
    }
    required = [field for field in fields if field not in ("offset", "limit", "timeout")]
    parameters: JsonObject = {"type": "object", "required": list(required), "properties": properties}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = [
    _tool(
        "read",
        "Read the contents of a file. Output is truncated to 2000 lines or 50KB. Use offset and limit for large files.",
        path="Path to the file to read (relative or absolute)",
        offset="Line number to start reading from (1-indexed)",
        limit="Maximum number of lines to read",
    ),
    _tool(
        "bash",
        "Execute a bash command in the current working directory. Returns stdout and stderr, truncated to 2000 lines "
        "or 50KB. Optionally provide a timeout in seconds.",
        command="Bash command to execute",
        timeout="Timeout in seconds (optional)",
    ),
    _tool(
        "edit",
        "Edit a file by replacing exact text. The oldText must match exactly (including whitespace).",
        path="Path to the file to edit (relative or absolute)",
        oldText="Exact text to find and replace (must match exactly)",
        newText="New text to replace the old text with",
    ),
    _tool(
        "write",
        "Write content to a file. Creates the file if it doesn't exist, overwrites if it does.",
        path="Path to the file to write (relative or absolute)",
        content="Content to write to the file",
    ),
]


def request_size(system: str, tools: Sequence[JsonObject], history: Sequence[Turn]) -> int:
    """The bytes of one request in the Chat Completions format."""
    messages: list[JsonObject] = [{"role": "system", "content": system}]
    for turn in history:
        if isinstance(turn, UserTurn):
            messages.append({"role": "user", "content": turn.text})
        elif isinstance(turn, ModelTurn):
            calls: list[JsonObject] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.tool, "arguments": json.dumps(call.args)},
                }
                for call in turn.calls
            ]
            messages.append(
                {"role": "assistant", "content": turn.text, **({"tool_calls": list(calls)} if calls else {})}
            )
        else:
            messages += [{"role": "tool", "tool_call_id": each.id, "content": each.content} for each in turn.returns]
    return len(encode_json({"model": "m", "stream": True, "tools": list(tools), "messages": list(messages)}))


class BareLoop:
    def __init__(self, workspace: Path, decide: Callable[[Sequence[Turn]], Reply]) -> None:
        self.workspace = workspace
        self._decide = decide
        self._history: list[Turn] = []
        self.sizes: list[int] = []

    async def ask(self, text: str) -> str:
        self._history.append(UserTurn(text=text))
        while True:
            system = SYSTEM.format(workspace=self.workspace)
            self.sizes.append(request_size(system, TOOLS, self._history))
            reply = self._decide(self._history)
            self._history.append(ModelTurn(text=reply.text, calls=reply.calls))
            if reply.stop is not Stop.TOOL_USE:
                return reply.text
            self._history.append(ToolTurn(returns=[await self._call(call) for call in reply.calls]))

    async def _call(self, call: ToolUse) -> ToolReturn:
        content = await self._run(call)
        return ToolReturn(id=call.id, tool=call.tool, status="success", content=content[:50_000])

    async def _run(self, call: ToolUse) -> str:
        args = {name: str(value) for name, value in call.args.items()}
        path = self.workspace / args.get("path", "")
        match call.tool:
            case "read":
                return path.read_text()
            case "write":
                path.write_text(args["content"])
                return f"Successfully wrote {len(args['content'])} bytes to {args['path']}"
            case "edit":
                text = path.read_text()
                if text.count(args["oldText"]) != 1:
                    return f"Could not find the exact text in {args['path']}, or it is not unique."
                path.write_text(text.replace(args["oldText"], args["newText"]))
                return f"Successfully replaced text in {args['path']}."
        process = await asyncio.create_subprocess_shell(
            args["command"], cwd=self.workspace, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        output, _ = await process.communicate()
        return output.decode("utf-8", "replace") or "(no output)"
