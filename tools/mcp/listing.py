"""The tool set of a server, cleaned and bounded. Whatever a server writes about its tools is data."""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sidecar.wire.base import JsonObject

MAX_TOOLS = 1_000
#: Characters of a tool name that every model provider takes.
MAX_NAME = 64
_MAX_OWN_NAME = 128
_MAX_DESCRIPTION = 2_000
_MAX_SCHEMA = 32_000
_MAX_DEPTH = 16
_BAD = re.compile(r"[^A-Za-z0-9_-]+")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?|[@-Z\\-_])")
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e01ef]"
)


def clean(text: str) -> str:
    """The text without terminal escapes and characters that hide or reorder it."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool as its server lists it. `name` is the server's own; `read_only` is its claim, nothing more."""

    name: str
    description: str
    schema: JsonObject
    read_only: bool = False

    def record(self) -> JsonObject:
        return {
            "name": self.name,
            "description": self.description,
            "schema": self.schema,
            "readOnly": self.read_only,
        }

    @classmethod
    def from_record(cls, record: Any) -> "ListedTool":
        return cls(
            str(record["name"]), str(record["description"]), dict(record["schema"]), record.get("readOnly") is True
        )


@dataclass(frozen=True)
class Listing:
    """A whole tool set. `left_out` says which tools can't be used, and why."""

    tools: tuple[ListedTool, ...] = ()
    left_out: tuple[str, ...] = ()
    #: The name that models use → the tool.
    names: dict[str, ListedTool] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        records = sorted((tool.record() for tool in self.tools), key=lambda record: str(record["name"]))
        return hashlib.sha256(json.dumps(records, sort_keys=True).encode()).hexdigest()


def make_listing(server: str, raw: Iterable[tuple[str, str, Any, bool]], left_out: Sequence[str] = ()) -> Listing:
    """From name, description, input schema and the claim that it only reads."""
    tools: list[ListedTool] = []
    names: dict[str, ListedTool] = {}
    problems = list(left_out)
    for name, description, schema, read_only in raw:
        shown = clean(name)[:60]
        if len(tools) >= MAX_TOOLS:
            problems.append(f"everything after the first {MAX_TOOLS} tools")
            break
        if not name.strip() or len(name) > _MAX_OWN_NAME or clean(name) != name:
            problems.append(f"{shown or 'a tool'}: its name is empty, too long, or hides something")
            continue
        if why := schema_problem(schema):
            problems.append(f"{shown}: {why}")
            continue
        tool = ListedTool(name, clean(description)[:_MAX_DESCRIPTION], clean_schema(schema), read_only)
        called = call_name(server, tool.name)
        if called in names:
            problems.append(f"{shown}: another tool has the same name")
            continue
        tools.append(tool)
        names[called] = tool
    return Listing(tuple(tools), tuple(problems[:50]), names)


def call_name(server: str, tool: str) -> str:
    """`SERVER__TOOL`. A name that providers would reject is shortened, with a hash of the whole."""
    name = f"{server}__{_BAD.sub('_', tool)}"
    if len(name) > MAX_NAME:
        name = f"{name[: MAX_NAME - 9]}_{hashlib.sha256(tool.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return name


def schema_problem(schema: Any) -> str:
    """Why a schema can't be used; empty if it can."""
    if not isinstance(schema, dict):
        return "its schema is not an object"
    if _depth(schema) > _MAX_DEPTH:
        return f"its schema is nested deeper than {_MAX_DEPTH} levels"
    try:
        size = len(json.dumps(schema))
    except (ValueError, TypeError):
        return "its schema is not JSON"
    return f"its schema has {size:,} bytes, and at most {_MAX_SCHEMA:,} are used" if size > _MAX_SCHEMA else ""


def _depth(value: Any) -> int:
    """Without recursion: a schema bomb is nested on purpose."""
    deepest, waiting = 0, [(value, 1)]
    while waiting and deepest <= _MAX_DEPTH:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        waiting.extend((each, depth + 1) for each in inner)
    return deepest


def clean_schema(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)[:_MAX_DESCRIPTION]
    if isinstance(value, list):
        return [clean_schema(each) for each in value]
    if isinstance(value, dict):
        return {clean(str(name))[:200]: clean_schema(each) for name, each in value.items()}
    return value
