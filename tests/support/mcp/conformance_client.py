"""The client under test for the official conformance suite: our own servers, connection and backend, nothing else.

The suite starts it with the address of its server as the last argument, and the scenario in the environment.
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx2

from tests.support.mcp.bench import McpBench
from tools.mcp import oauth
from tools.mcp.connection import ServerFailed
from tools.mcp.entry import ServerEntry


def browser(entry: ServerEntry, data_dir: Path) -> Any:
    """In the place of a person: follows the sign-in page, which the suite confirms at once."""
    answers: list[Any] = []

    async def redirect(url: str) -> None:
        from urllib.parse import parse_qs, urlsplit

        from mcp.shared.auth import AuthorizationCodeResult

        async with httpx2.AsyncClient() as client:
            response = await client.get(url, follow_redirects=False)
        query = {name: each[0] for name, each in parse_qs(urlsplit(response.headers["location"]).query).items()}
        answers.append(
            AuthorizationCodeResult(code=query.get("code", ""), state=query.get("state"), iss=query.get("iss"))
        )

    async def callback() -> Any:
        return answers.pop()

    return oauth.provider(entry, oauth.TokenFile(data_dir, entry), "http://localhost:3030/callback", redirect, callback)


async def main() -> int:
    scenario, url = os.environ.get("MCP_CONFORMANCE_SCENARIO", ""), sys.argv[-1]
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    entry: dict[str, Any] = {"url": url, "timeout": 25, "allow": ["*"]}
    entry["oauth"] = {"clientMetadataUrl": "https://conformance-test.local/client-metadata.json"}
    if "client_id" in context:
        entry["oauth"] = {"clientId": context["client_id"], "clientSecret": context.get("client_secret", "")}
    oauth.make_auth = browser  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as place:
        bench = McpBench(Path(place), {"s": entry})
        bench.ledger.choices = [""] * 20  # accept every default
        workspace = str(bench.workspace)
        try:
            connection = bench.servers.connection(bench.servers.entries(workspace)["s"])
            try:
                listing = await connection.current_listing()
            except ServerFailed:  # a busy machine; the suite's server is not to blame
                listing = await connection.current_listing()
            for name, tool in listing.names.items():
                given = arguments(scenario, tool.schema, context, tool.name)
                if scenario == "json-schema-2020-12-preservation" and "schema" in given:
                    given = {"schema": next(iter(listing.names.values())).schema}
                outcome = await bench.call(name, **given)
                print(name, outcome.status, outcome.content[:200], file=sys.stderr)
        finally:
            await bench.close()
    return 0


def arguments(scenario: str, schema: dict[str, Any], context: dict[str, Any], tool: str) -> dict[str, Any]:
    for call in context.get("toolCalls", []):
        if call.get("name") == tool:
            given: dict[str, Any] = call.get("arguments", {})
            return given
    values = {"string": "text", "number": 5, "integer": 5, "boolean": True, "array": [], "object": {}}
    properties = schema.get("properties") or {}
    if scenario == "tools_call":
        return {"a": 5, "b": 3}
    return {
        name: values.get(field.get("type"), "text") for name, field in properties.items() if isinstance(field, dict)
    }


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
