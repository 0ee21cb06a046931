"""Validates a call's arguments against the tool's schema; the error names each wrong argument and the signature."""

from pydantic import ValidationError

from sidecar.wire.base import JsonObject
from sidecar.wire.validation import describe_errors
from tools.errors import InvalidArguments
from tools.spec import AnyTool, Arguments
from tools.text import estimate_size

_MAX_SIZE = 8_000_000
_ERRORS_SHOWN = 5
_JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "array": list,
    "object": dict,
}


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
    if tool.spec.parameters is not None and (problem := check_outline(args, tool.spec.parameters)):
        raise InvalidArguments(f"{name}: {problem}. It takes {signature(tool)}.")
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


def check_outline(args: JsonObject, schema: JsonObject) -> str:
    """What is wrong with the arguments of a tool that isn't ours, by the outline of its schema; empty if nothing is.

    The rest is for its author to check: a pattern or a reference in a schema could keep us busy for ever.
    """
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    if missing := [name for name in _list(schema.get("required")) if isinstance(name, str) and name not in args]:
        return f"`{missing[0][:100]}` is required"
    if schema.get("additionalProperties") is False and (unknown := [name for name in args if name not in known]):
        return f"there is no argument `{unknown[0][:100]}`"
    for name, value in args.items():
        field = known.get(name)
        expected = field.get("type") if isinstance(field, dict) else None
        if value is None and name not in _list(schema.get("required")):
            continue  # models write null for what they leave out
        types = _JSON_TYPES.get(expected) if isinstance(expected, str) else None
        if types is not None and (not isinstance(value, types) or (isinstance(value, bool) and expected != "boolean")):
            return f"`{name[:100]}` must be {expected}"
    return ""


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def signature(tool: AnyTool) -> str:
    """The arguments on one line: `{path: string, startLine?: integer}`."""
    schema = tool.spec.schema
    required, properties = _list(schema.get("required")), schema.get("properties")
    parts = [
        f"{name}{'' if name in required else '?'}: {_type(field) if isinstance(field, dict) else 'any'}"
        for name, field in (properties.items() if isinstance(properties, dict) else ())
    ]
    return "{" + ", ".join(parts) + "}"


def _type(field: JsonObject) -> str:
    options = field.get("anyOf")
    if isinstance(options, list):
        names = [_type(option) for option in options if isinstance(option, dict)]
        return " | ".join(name for name in names if name != "null")
    return str(field.get("type", "object"))
