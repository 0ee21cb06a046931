"""A call's arguments, checked against the tool's schema; what is wrong is said in the schema's own words."""

from pydantic import ValidationError

from sidecar.wire.base import JsonObject
from tools.errors import InvalidArguments
from tools.spec import AnyTool, Arguments
from tools.text import estimate_size

#: Bytes of all arguments together.
LIMIT = 8_000_000
_SHOWN_ERRORS = 5


def validate(tool: AnyTool, args: JsonObject, workspace: str) -> Arguments:
    name = tool.spec.name
    if not isinstance(args, dict):
        raise InvalidArguments(f"{name} needs a JSON object of arguments: {signature(tool)}.")
    try:
        size = estimate_size(args, LIMIT)
    except UnicodeError as error:
        raise InvalidArguments(
            f"{name}: an argument is not valid text (half a surrogate pair). Write it anew."
        ) from error
    if size > LIMIT:
        raise InvalidArguments(f"The arguments are larger than {LIMIT} bytes. Split the work into several calls.")
    try:
        return tool.spec.arguments.model_validate(args, context=workspace)
    except ValidationError as error:
        problems = [_said(each["loc"], each["msg"], each["type"]) for each in error.errors(include_url=False)]
        told = "; ".join(problems[:_SHOWN_ERRORS])
        raise InvalidArguments(f"{name}: {told}. It takes {signature(tool)}.") from error


def signature(tool: AnyTool) -> str:
    """The arguments on one line, as the schema has them: `path: string, startLine?: integer`."""
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


def _said(place: tuple[int | str, ...], message: str, kind: str) -> str:
    where = ".".join(str(part) for part in place)[:200] or "the arguments"
    if kind == "extra_forbidden":
        return f"`{where}` is not an argument"
    return f"`{where}`: {message[:200].lower() if message[:1].isupper() else message[:200]}"
