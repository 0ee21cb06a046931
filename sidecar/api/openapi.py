"""The OpenAPI 3.1 document, made from the route table and the wire types."""

import re
from functools import cache
from typing import Any

from pydantic.json_schema import models_json_schema

from sidecar import __version__
from sidecar.api.problems import TITLES
from sidecar.api.routes import TABLE, Described, Query
from sidecar.wire import bridge, events, models, system, tasks, tools
from sidecar.wire.base import Wire

REF = "#/components/schemas/{model}"
_INTERNAL = frozenset({"StoredRequest", "Event"})


@cache
def document() -> dict[str, Any]:
    types = wire_types()
    _, definitions = models_json_schema([(kind, "serialization") for kind in types], ref_template=REF)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Rainy Brain",
            "version": __version__,
            "description": "The sidecar's HTTP door. Every refusal is a problem document with a stable code.",
        },
        "servers": [{"url": "http://127.0.0.1:3847"}],
        "security": [{"token": []}],
        "paths": _paths(),
        "components": {
            "schemas": definitions["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def wire_types() -> list[type[Wire]]:
    """Every type of the wire, in the order in which it is written down."""
    found: dict[str, type[Wire]] = {}
    for module in (tasks, events, tools, bridge, system, models):
        for name, value in vars(module).items():
            if isinstance(value, type) and issubclass(value, Wire) and value.__module__ == module.__name__:
                found[name] = value
    return [kind for name, kind in found.items() if name not in _INTERNAL]


def _paths() -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for described in TABLE:
        paths.setdefault(described.path, {})[described.method.lower()] = _operation(described)
    return paths


def _operation(described: Described) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": described.name,
        "summary": described.summary,
        "responses": {str(described.status): _answer(described)},
    }
    parameters = [_parameter(Query(name, "An id."), "path") for name in re.findall(r"\{(\w+)\}", described.path)] + [
        _parameter(query, "query") for query in described.query
    ]
    parameters += [_parameter(header, "header") for header in described.headers]
    if parameters:
        operation["parameters"] = parameters
    if described.body is not None:
        schema = {"$ref": REF.format(model=described.body.__name__)}
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    refusals = {400, *described.refusals}
    if described.path.startswith(("/api/", "/metrics")):
        refusals |= {401, 403}
    else:
        operation["security"] = []
        refusals |= {403}
    if described.path == "/api/brain/session":
        operation["security"] = []
    if described.method in ("POST", "PUT"):
        refusals |= {413, 415}
    if described.body is not None or described.query or described.headers:
        refusals |= {422}
    for status in sorted(refusals):
        operation["responses"][str(status)] = _problem(TITLES[status])
    return operation


def _answer(described: Described) -> dict[str, Any]:
    if isinstance(described.answer, str):
        # An event stream is no JSON value: its events have a schema each, under `components`.
        schemas: dict[str, dict[str, Any]] = {
            "application/json": {"schema": {"type": "object"}},
            "text/event-stream": {},
        }
        content = {described.answer: schemas.get(described.answer, {"schema": {"type": "string"}})}
        return {"description": described.summary, "content": content}
    schema = {"$ref": REF.format(model=described.answer.__name__)}
    return {"description": described.summary, "content": {"application/json": {"schema": schema}}}


def _problem(title: str) -> dict[str, Any]:
    schema = {"$ref": REF.format(model="Problem")}
    return {"description": title, "content": {"application/problem+json": {"schema": schema}}}


def _parameter(query: Query, place: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": query.kind}
    if query.kind == "integer":
        schema["minimum"] = 0
    return {
        "name": query.name,
        "in": place,
        "required": place == "path",
        "description": query.description,
        "schema": schema,
    }
