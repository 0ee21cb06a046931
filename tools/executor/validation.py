"""Validates a call's arguments against the tool's schema; the error names each wrong argument and the signature."""

from pydantic import ValidationError

from sidecar.wire.base import JsonObject
from sidecar.wire.validation import describe_errors
from tools.errors import InvalidArguments
from tools.spec import AnyTool, Arguments
from tools.text import estimate_size

_MAX_SIZE = 8_000_000
_ERRORS_SHOWN = 5


def validate(tool: AnyTool, args: JsonObject, workspace: str) -> Arguments:
    name = tool.spec.name
    if not isinstance(args, dict):
        raise InvalidArguments(f"{name} needs a JSON object of arguments: {signature(tool)}.")
    try:
        size = estimate_size(args, _MAX_SIZE)
    except UnicodeError as error:
        raise InvalidArguments(f"{name}: an argument contains half a surrogate pair. Write the text again.") from error
    if size > _MAX_SIZE:
        raise InvalidArguments(f"The arguments exceed {_MAX_SIZE} bytes. Split the work into several calls.")
    try:
        return tool.spec.arguments.model_validate(args, context=workspace)
    except ValidationError as error:
        problems = []
        for field, message in describe_errors(error, tool.spec.arguments, "argument")[:_ERRORS_SHOWN]:
            problems.append(message if message.startswith("unknown") else f"`{field[:200]}` {_with_verb(message)}")
        text = "; ".join(problems)
        end = "" if text.endswith("?") else "."
        raise InvalidArguments(f"{name}: {text}{end} It takes {signature(tool)}.") from error


def _with_verb(message: str) -> str:
    return "is required" if message == "required" else message


def signature(tool: AnyTool) -> str:
    """The arguments on one line: `{path: string, startLine?: integer}`."""
    schema = tool.spec.arguments.model_json_schema()
    required = schema.get("required", [])
    parts = [
        f"{name}{'' if name in required else '?'}: {_type(field)}"
        for name, field in schema.get("properties", {}).items()
    ]
    return "{" + ", ".join(parts) + "}"


def _type(field: JsonObject) -> str:
    options = field.get("anyOf")
    if isinstance(options, list):
        names = [_type(option) for option in options if isinstance(option, dict)]
        return " | ".join(name for name in names if name != "null")
    return str(field.get("type", "object"))
