"""What every wire type shares: camelCase on the wire, snake_case in Python, nothing unknown let in."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

JsonObject = dict[str, JsonValue]


class Wire(BaseModel):
    # Schemas are built when a type is first used: a start pays only for what it says.
    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        serialize_by_alias=True,
        extra="forbid",
        frozen=True,
        defer_build=True,
    )

    def to_json(self) -> str:
        return self.model_dump_json(by_alias=True)


def _says_nothing(value: object) -> bool:
    return value is None or value == ""


def _never_null(schema: dict[str, Any]) -> None:
    kinds = [kind for kind in schema.get("anyOf", []) if kind != {"type": "null"}]
    if len(kinds) == 1:
        del schema["anyOf"]
        schema.update(kinds[0])
    schema.pop("default", None)


def optional(default: Any = None) -> Any:
    """A field that is left out, rather than sent as null, when it says nothing."""
    return Field(default=default, exclude_if=_says_nothing, json_schema_extra=_never_null)
