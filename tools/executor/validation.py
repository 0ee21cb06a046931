"""Validates a call's arguments against the tool's schema; the error names each wrong argument and the signature."""

from collections.abc import Set
from functools import cache

from pydantic import JsonValue, ValidationError
from pydantic.alias_generators import to_camel

from sidecar.wire.base import JsonObject
from sidecar.wire.validation import describe_errors
from tools.errors import InvalidArguments
from tools.parsed import parse_json
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

#: Names that models know from other agents' tools, and ours for the same argument.
_NAMES = {
    "file_path": "path",
    "filePath": "path",
    "old_string": "oldText",
    "old_str": "oldText",
    "new_string": "newText",
    "new_str": "newText",
    "file_text": "content",
}
_EDIT = frozenset({"oldText", "newText"})


def adapt(tool: AnyTool, args: JsonObject) -> JsonObject:
    """The arguments under our names: `path` for `file_path`, `startLine` for `start_line`. Edits may be JSON text."""
    if tool.spec.parameters is not None or not isinstance(args, dict):
        return args
    fields = _fields(tool.spec.arguments)
    return args if args.keys() <= fields and "edits" not in args else _rename(args, fields)


@cache
def _fields(kind: type[Arguments]) -> frozenset[str]:
    return frozenset(field.alias or name for name, field in kind.model_fields.items())


def _rename(args: JsonObject, fields: Set[str]) -> JsonObject:
    renamed: JsonObject = {}
    for name, value in args.items():
        ours = name if name in fields else _NAMES.get(name, to_camel(name))
        if ours not in fields or (ours != name and (ours in args or ours in renamed)):
            ours = name
        renamed[ours] = _edits(value) if ours == "edits" and ours in fields else value
    return renamed


def _edits(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except ValueError:
            return value
    if not isinstance(value, list):
        return value
    return [_rename(each, _EDIT) if isinstance(each, dict) else each for each in value]


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
            named = field and not message.startswith("unknown")
            problems.append(f"`{field[:200]}` {_with_verb(message)}" if named else message)
        text = "; ".join(problems)
        end = "" if text.endswith("?") else "."
        raise InvalidArguments(f"{name}: {text}{end} It takes {signature(tool)}.") from error


def _with_verb(message: str) -> str:
    return "is required" if message == "required" else message


def check_outline(args: JsonObject, schema: JsonObject) -> str:
    """What is wrong with the arguments of a tool that isn't ours, by the outline of its schema; empty if nothing is.

    The rest is for its author to check: a pattern or a reference in a schema could take unbounded time.
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
        f"{name}{'' if name in required else '?'}: {_type(field, schema) if isinstance(field, dict) else 'any'}"
        for name, field in (properties.items() if isinstance(properties, dict) else ())
    ]
    return "{" + ", ".join(parts) + "}"


def _type(field: JsonObject, schema: JsonObject) -> str:
    options = field.get("anyOf")
    if isinstance(options, list):
        names = [_type(option, schema) for option in options if isinstance(option, dict)]
        return " | ".join(name for name in names if name != "null")
    items, defined = field.get("items"), schema.get("$defs")
    if isinstance(items, dict) and isinstance(defined, dict):
        items = defined.get(str(items.get("$ref")).rpartition("/")[2], items)
    if isinstance(items, dict) and isinstance(properties := items.get("properties"), dict):
        inner = [f"{name}: {_type(each, schema)}" for name, each in properties.items() if isinstance(each, dict)]
        return "[{" + ", ".join(inner) + "}]"
    return str(field.get("type", "object"))
