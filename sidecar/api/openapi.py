"""The OpenAPI 3.1 document, generated from the route table and the wire types."""

import re
from functools import cache
from typing import Any

from pydantic.json_schema import models_json_schema

from sidecar import __version__
from sidecar.api.problems import TITLES
from sidecar.api.route import Parameter, Route
from sidecar.api.routes import ROUTES
from sidecar.wire import (
    bridge,
    events,
    fleet,
    health,
    mcp,
    memory,
    models,
    session,
    system,
    tasks,
    tools,
    worktrees,
)
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
            "description": "The sidecar's HTTP API. Every refusal is a problem document with a stable `code`.",
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
    """Every wire type, in source order."""
    found: dict[str, type[Wire]] = {}
    for module in (
        tasks,
        events,
        tools,
        bridge,
        health,
        session,
        system,
        models,
        memory,
        mcp,
        worktrees,
        fleet,
    ):
        for name, value in vars(module).items():
            if isinstance(value, type) and issubclass(value, Wire) and value.__module__ == module.__name__:
                found[name] = value
    return [kind for name, kind in found.items() if name not in _INTERNAL]


def _paths() -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return paths


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        **({"description": route.doc} if route.doc else {}),
        "responses": {str(route.status): _answer(route)},
    }
    parameters = [_parameter(Parameter(name, "An id."), "path") for name in re.findall(r"\{(\w+)\}", route.path)] + [
        _parameter(query, "query") for query in route.query
    ]
    parameters += [_parameter(header, "header") for header in route.headers]
    if parameters:
        operation["parameters"] = parameters
    if route.body is not None:
        schema = {"$ref": REF.format(model=route.body.__name__)}
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    refusals = {400, *route.refusals}
    if route.path.startswith(("/api/", "/metrics")):
        refusals |= {401, 403}
    else:
        operation["security"] = []
        refusals |= {403}
    if route.path == "/api/brain/session":
        operation["security"] = []
    if route.method in ("POST", "PUT", "PATCH"):
        refusals |= {413, 415}
    if route.body is not None or route.query or route.headers:
        refusals |= {422}
    for status in sorted(refusals):
        operation["responses"][str(status)] = _problem(TITLES[status])
    return operation


def _answer(route: Route) -> dict[str, Any]:
    if isinstance(route.answer, str):
        # A stream isn't one JSON value; each of its events has a schema under `components`.
        schemas: dict[str, dict[str, Any]] = {
            "application/json": {"schema": {"type": "object"}},
            "text/event-stream": {},
        }
        content = {route.answer: schemas.get(route.answer, {"schema": {"type": "string"}})}
        return {"description": route.summary, "content": content}
    schema = {"$ref": REF.format(model=route.answer.__name__)}
    return {"description": route.summary, "content": {"application/json": {"schema": schema}}}


def _problem(title: str) -> dict[str, Any]:
    schema = {"$ref": REF.format(model="Problem")}
    return {"description": title, "content": {"application/problem+json": {"schema": schema}}}


def _parameter(parameter: Parameter, place: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": parameter.kind}
    if parameter.kind == "integer":
        schema["minimum"] = 0
    return {
        "name": parameter.name,
        "in": place,
        "required": place == "path",
        "description": parameter.doc,
        "schema": schema,
    }
