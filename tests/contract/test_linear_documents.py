"""Our documents against Linear's published schema: `BRAIN_LINEAR_SCHEMA` names the file `schema.graphql` of its SDK."""

import os
from pathlib import Path

import pytest
from graphql import GraphQLSchema, build_schema, parse, validate
from graphql.utilities import coerce_input_value

from sidecar.doors.linear import DOCUMENTS
from tests.support.linear_inputs import INPUTS


@pytest.fixture(scope="module")
def schema() -> GraphQLSchema:
    file = os.environ.get("BRAIN_LINEAR_SCHEMA", "")
    if not file:
        pytest.skip("BRAIN_LINEAR_SCHEMA doesn't name Linear's schema, which is not ours to copy")
    return build_schema(Path(file).read_text(encoding="utf-8"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda text: text.split("(")[0].split()[-1])
def test_linear_understands_the_document(schema: GraphQLSchema, document: str) -> None:
    assert validate(schema, parse(document)) == []


@pytest.mark.parametrize(("kind", "value"), INPUTS)
def test_linear_understands_what_is_sent_with_it(schema: GraphQLSchema, kind: str, value: object) -> None:
    coerce_input_value(value, schema.type_map[kind])  # raises if a field is unknown or has another type
