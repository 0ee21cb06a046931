"""A tool's arguments as a model is told of them: the same fields and types, without what only the check needs.

Nothing is checked less for it: every call goes through the whole type, and what does not fit is answered with what is
wrong. What a model reads is paid for with every request.
"""

from dataclasses import dataclass, replace
from typing import Any

from sidecar.wire.base import JsonObject

#: Limits are told when they are overstepped; a title only says the name once more.
_LEFT_OUT = frozenset(
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
#: What everybody expects of an argument that is left out.
_USUAL: tuple[object, ...] = (None, "", ".", False, 0, [], {})


def shorten(schema: JsonObject, *, described: bool = True) -> JsonObject:
    """Without `described`, also without what the fields are for: that is then said elsewhere."""
    definitions = schema.get("$defs")
    left_out = _LEFT_OUT if described else _LEFT_OUT | {"description"}
    found = _Shortening(definitions if isinstance(definitions, dict) else {}, left_out).of(schema)
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class _Shortening:
    definitions: JsonObject
    left_out: frozenset[str]
    #: The definitions that we are inside of.
    within: tuple[str, ...] = ()

    def of(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.of(each) for each in node]
        if not isinstance(node, dict):
            return node
        if isinstance(node.get("$ref"), str):
            return self._referred(node["$ref"].rpartition("/")[2])
        kept = {name: value for name, value in node.items() if name not in self.left_out}
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
        # Here the names are the tool's own: one may well be called `title`.
        return {name: self.of(each) for name, each in properties.items()}

    def _referred(self, name: str) -> Any:
        # One that stands inside itself has no end; that it is an object is then enough.
        known = self.definitions.get(name) if name not in self.within else None
        return replace(self, within=(*self.within, name)).of(known) if known else {"type": "object"}
