"""The base of every wire type: camelCase on the wire, snake_case in Python, unknown fields rejected."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, JsonValue, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, core_schema

JsonObject = dict[str, JsonValue]


class _Unchecked:
    """Pydantic calls a Python function for every value in a `JsonValue`; a result may hold thousands."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        described = handler(source)
        functions = [lambda _, describe: describe(described)]
        return core_schema.any_schema(metadata={"pydantic_js_annotation_functions": functions})


#: For what our own code builds, or a JSON parser has read.
UncheckedJson = Annotated[JsonValue, _Unchecked()]
UncheckedJsonObject = Annotated[JsonObject, _Unchecked()]


class Wire(BaseModel):
    # Schemas are built on first use, which keeps the start fast.
    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        serialize_by_alias=True,
        extra="forbid",
        frozen=True,
        defer_build=True,
    )

    @classmethod
    def from_object(cls, source: object, **more: Any) -> Self:
        """The fields that `source` has by the same name, and those given."""
        names = [name for name in cls.model_fields if name not in more and hasattr(source, name)]
        return cls(**{name: getattr(source, name) for name in names}, **more)

    def to_json(self) -> str:
        return self.model_dump_json(by_alias=True)


class RequestBody(Wire):
    """What clients send: a field that is null counts as absent, as many serializers write it."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, sent: Any) -> Any:
        return {name: value for name, value in sent.items() if value is not None} if isinstance(sent, dict) else sent


#: A method in C, because each optional field of each event asks it.
_is_empty = (None, "").__contains__


def _never_null(schema: dict[str, Any]) -> None:
    kinds = [kind for kind in schema.get("anyOf", []) if kind != {"type": "null"}]
    if len(kinds) == 1:
        del schema["anyOf"]
        schema.update(kinds[0])
    schema.pop("default", None)


def optional(default: Any = None, **more: Any) -> Any:
    """A field that is omitted, rather than null, when it is empty."""
    return Field(default=default, exclude_if=_is_empty, json_schema_extra=_never_null, **more)


GrantKind = Literal["command", "host", "read", "install", "checks", "spend"]
ToolStatus = Literal["pending", "running", "success", "error", "cancelled", "unknown"]


class ErrorBody(Wire):
    code: str
    message: str
    advice: Annotated[str | None, Field(description="Advice for a model; `message` is for people.")] = optional()
