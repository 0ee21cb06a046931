"""A schema without what only the check needs."""

from sidecar.wire.base import JsonObject
from tools.spec import shorten

EDIT: JsonObject = {
    "$defs": {
        "Edit": {"type": "object", "title": "Edit", "properties": {"title": {"type": "string", "title": "Title"}}},
        "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}},
    },
    "type": "object",
    "title": "Arguments",
    "additionalProperties": False,
    "properties": {
        "edits": {"type": "array", "items": {"$ref": "#/$defs/Edit"}, "maxItems": 5},
        "tree": {"$ref": "#/$defs/Node"},
        "glob": {"anyOf": [{"type": "string", "description": "Which."}, {"type": "null"}], "default": None},
        "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        "depth": {"type": "integer", "default": 4, "minimum": 1},
        "deep": {"type": "boolean", "default": False},
    },
    "required": ["edits"],
}


def test_it_keeps_fields_kinds_and_what_is_not_obvious() -> None:
    assert shorten(EDIT) == {
        "type": "object",
        "properties": {
            "edits": {
                "type": "array",
                "items": {"type": "object", "properties": {"title": {"type": "string"}}},
                "maxItems": 5,
            },
            "tree": {"type": "object", "properties": {"next": {"type": "object"}}},
            "glob": {"type": "string", "description": "Which."},
            "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
            "depth": {"type": "integer", "default": 4},
            "deep": {"type": "boolean"},
        },
        "required": ["edits"],
    }


def test_what_is_described_elsewhere_is_not_described_again() -> None:
    glob = shorten(EDIT, described=False)["properties"]["glob"]  # type: ignore[call-overload, index]
    assert glob == {"type": "string"}
