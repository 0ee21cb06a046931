"""Shortens a tool's JSON schema for models, which pay for it with every request.

The fields and types stay; limits that only validation needs go. Every call is still validated against the full type,
and the error names the limit.
"""

from dataclasses import dataclass, replace
from typing import Any

from sidecar.wire.base import JsonObject

_DROPPED = frozenset(
    (
        "title",
        "additionalProperties",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "pattern",
        "$defs",
    )
)
#: Defaults that go without saying.
_USUAL: tuple[object, ...] = (None, "", ".", False, 0, [], {})


def shorten(schema: JsonObject, *, described: bool = True) -> JsonObject:
    """Without `described`, field descriptions go too, for tools whose brief explains them."""
    definitions = schema.get("$defs")
    dropped = _DROPPED if described else _DROPPED | {"description"}
    found = _Shortener(definitions if isinstance(definitions, dict) else {}, dropped).of(schema)
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class _Shortener:
    definitions: JsonObject
    dropped: frozenset[str]
    #: The definitions around the current node.
    within: tuple[str, ...] = ()

    def of(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.of(each) for each in node]
        if not isinstance(node, dict):
            return node
        if isinstance(node.get("$ref"), str):
            return self._resolve(node["$ref"].rpartition("/")[2])
        kept = {name: value for name, value in node.items() if name not in self.dropped}
        if "default" in kept and kept["default"] in _USUAL:
            del kept["default"]
        kinds = [kind for kind in kept.pop("anyOf", []) if kind != {"type": "null"}]
        shorter = {
            name: self._fields(value) if name == "properties" else self.of(value) for name, value in kept.items()
        }
        if len(kinds) == 1:
            return {**self.of(kinds[0]), **shorter}
        return {**shorter, "anyOf": self.of(kinds)} if kinds else shorter

    def _fields(self, properties: Any) -> Any:
        # These names are the tool's own, so one may be called `title`.
        return {name: self.of(each) for name, each in properties.items()}

    def _resolve(self, name: str) -> Any:
        # A recursive definition ends at its first repetition.
        known = self.definitions.get(name) if name not in self.within else None
        return replace(self, within=(*self.within, name)).of(known) if known else {"type": "object"}
