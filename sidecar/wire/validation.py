"""Validation errors in plain words: which field is wrong, what it must be, and which name was probably meant."""

from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, ValidationError

from sidecar.wire.text import plural

_EXPECTED = {
    "missing": "required",
    "string": "must be text",
    "int": "must be a whole number",
    "float": "must be a number",
    "decimal": "must be a number",
    "finite": "must be a finite number",
    "bool": "must be true or false",
    "list": "must be a list",
    "tuple": "must be a list",
    "dict": "must be an object",
    "model": "must be an object",
    "none": "must be null",
}
_SHOWN = 20


class InvalidField(NamedTuple):
    field: str
    message: str


def describe_errors(error: ValidationError, kind: type[BaseModel], noun: str = "field") -> list[InvalidField]:
    """One entry per wrong field; `noun` is the reader's word for one, such as "setting" or "argument"."""
    found: dict[str, list[str]] = {}
    for item in error.errors(include_url=False, include_input=False):
        # A union adds the name of its member to the location, such as `list[str]` or `constrained-str`.
        place = tuple(part for part in item["loc"] if isinstance(part, int) or not ("[" in part or "-" in part))
        if item["type"] == "extra_forbidden":
            # The last part is what the caller wrote, whatever it looks like.
            place = (*(part for part in place if part != item["loc"][-1]), item["loc"][-1])
        message = (
            _unknown(place, kind, noun)
            if item["type"] == "extra_forbidden"
            else _message(item["type"], item.get("ctx") or {}, item["msg"])
        )
        found.setdefault(".".join(map(str, place)), []).append(message)
    return [InvalidField(field, ", or ".join(dict.fromkeys(said))) for field, said in [*found.items()][:_SHOWN]]


def _message(kind: str, context: Mapping[str, Any], fallback: str) -> str:
    match kind:
        case "literal_error" | "enum":
            return f"must be {context['expected']}"
        case "greater_than":
            return f"must be greater than {context['gt']}"
        case "greater_than_equal":
            return f"must be at least {context['ge']}"
        case "less_than":
            return f"must be less than {context['lt']}"
        case "less_than_equal":
            return f"must be at most {context['le']}"
        case "string_too_short" | "too_short" if context["min_length"] == 1:
            return "must not be empty"
        case "string_too_short":
            return f"must have at least {plural(context['min_length'], 'character')}"
        case "string_too_long":
            return f"must have at most {plural(context['max_length'], 'character')}"
        case "too_long":
            return f"must have at most {plural(context['max_length'], 'entry', 'entries')}"
        case "string_pattern_mismatch":
            return "must not be blank" if context["pattern"] == r"\S" else f"must match {context['pattern']}"
        case "union_tag_invalid":
            return f"{context['discriminator']} must be one of {context['expected_tags']}"
        case "union_tag_not_found":
            return f"{context['discriminator']} is required"
        case "value_error":
            return str(context["error"])
    return _EXPECTED.get(kind) or _EXPECTED.get(kind.partition("_")[0]) or fallback[:1].lower() + fallback[1:]


def _unknown(place: tuple[int | str, ...], kind: type[BaseModel], noun: str) -> str:
    from difflib import get_close_matches

    name = str(place[-1])
    near = get_close_matches(name, _names_at(place[:-1], kind), 1, 0.5)
    return f"unknown {noun} `{name[:100]}`" + (f"; did you mean `{near[0]}`?" if near else "")


def _names_at(place: tuple[int | str, ...], kind: type[BaseModel]) -> list[str]:
    """The names of the fields that the object at this place may have."""
    inner: type[BaseModel] | None = kind
    for part in place:
        if isinstance(part, str) and inner is not None:
            fields = {field.alias or name: field for name, field in inner.model_fields.items()}
            inner = _model_in(fields[part].annotation) if part in fields else None
    return [field.alias or name for name, field in inner.model_fields.items()] if inner is not None else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in get_args(annotation) if (model := _model_in(part)) is not None), None)
