"""TypeScript types, generated from the JSON schemas of the wire types."""

import json
from typing import Any, get_args

from sidecar.wire.bridge import ShellFrame, SidecarFrame
from sidecar.wire.events import AnyEvent
from sidecar.wire.intents import INTENTS, SLASH_COMMANDS, SLASH_PATTERN

HEADER = "// Generated from sidecar/wire by `make generate`. Do not edit.\n"
JSON_TYPES = """export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
"""

Schema = dict[str, Any]


def typescript(schemas: dict[str, Schema]) -> str:
    parts = [HEADER, JSON_TYPES]
    parts += [_declaration(name, schema) for name, schema in sorted(schemas.items()) if name != "JsonValue"]
    parts += [
        _union("WireEvent", AnyEvent, "Every event of a task, discriminated by `type`."),
        _union("ShellFrame", ShellFrame, "Frames a shell sends over the bridge."),
        _union("SidecarFrame", SidecarFrame, "Frames the sidecar sends over the bridge."),
    ]
    return "\n".join(parts)


def commands() -> str:
    """The intents, and the slash commands that the panel suggests."""
    intents = "".join(f"  {json.dumps(intent)},\n" for intent in INTENTS)
    suggested = "".join(
        f"  {name}: {{ intent: {json.dumps(command.intent)}, hint: {json.dumps(command.hint)} }},\n"
        for name, command in SLASH_COMMANDS.items()
        if command.hint
    )
    return "\n".join(
        [
            HEADER,
            f"export const INTENTS = [\n{intents}] as const;\n\nexport type Intent = (typeof INTENTS)[number];\n",
            "/** A slash command at the start of a task: its word, and everything after it. */",
            f"export const SLASH = new RegExp({json.dumps(f'^{SLASH_PATTERN}')});\n",
            "export const SLASH_COMMANDS: Readonly<"
            f"Record<string, {{ readonly intent: Intent; readonly hint: string }}>> = {{\n{suggested}}};\n",
        ]
    )


def _declaration(name: str, schema: Schema) -> str:
    comment = _comment(schema.get("description"), "")
    if schema.get("type") != "object":
        return f"{comment}export type {name} = {_type(schema)};\n"
    required = set(schema.get("required", []))
    lines = []
    for field, described in schema.get("properties", {}).items():
        # A field with one fixed value discriminates the type, so it is always present.
        fixed = "const" in described
        mark = "" if field in required or fixed else "?"
        lines.append(f"{_comment(described.get('description'), '  ')}  {field}{mark}: {_type(described)};")
    return f"{comment}export interface {name} {{\n" + "\n".join(lines) + "\n}\n"


def _type(schema: Schema) -> str:
    if not schema:
        return "JsonValue"
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " | ".join(dict.fromkeys(_type(part) for part in schema[key]))
    return _plain(schema)


def _plain(schema: Schema) -> str:
    match schema.get("type"):
        case "string":
            return "string"
        case "integer" | "number":
            return "number"
        case "boolean":
            return "boolean"
        case "null":
            return "null"
        case "array":
            inner = _type(schema.get("items", {}))
            return f"({inner})[]" if " | " in inner else f"{inner}[]"
        case "object":
            return f"{{ [key: string]: {_type(schema.get('additionalProperties', {}))} }}"
        case _:
            return "JsonValue"


def _union(name: str, annotated: Any, comment: str) -> str:
    members = [kind.__name__ for kind in get_args(get_args(annotated)[0])]
    lines = "\n".join(f"  | {member}" for member in members)
    return f"/** {comment} */\nexport type {name} =\n{lines};\n"


def _comment(text: str | None, indent: str) -> str:
    if not text:
        return ""
    return f"{indent}/** {' '.join(text.split())} */\n"
