"""The official conformance suite against our client and our server, in both eras of the specification."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.support import PROJECT, running_sidecar
from tests.support.mcp import packages

pytest.importorskip("mcp", reason="the package mcp is not installed")

CLIENT = [
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "request-metadata",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
    "auth/authorization-server-migration",
    "auth/iss-supported",
    "auth/iss-not-advertised",
    "auth/iss-supported-missing",
    "auth/iss-wrong-issuer",
    "auth/iss-unexpected",
    "auth/iss-normalized",
    "auth/metadata-issuer-mismatch",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
]
#: Not run: auth/2025-03-26-* (an era before ours), and extensions (dpop, client credentials, enterprise, wif, skills).

SERVER = [
    "server-initialize",
    "server-session-lifecycle",
    "ping",
    "tools-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "prompts-list",
    "dns-rebinding-protection",
    "caching",
    "http-header-validation",
    "server-sse-multiple-streams",
    "tools-call-error",
    "input-required-result-unsupported-methods",
]
#: Why the other server scenarios don't apply to a server with tools of its own.
EXCEPTIONS = {
    "server-stateless": "one check of it calls the suite's own tool that needs an undeclared capability",
    "logging-set-level": "we offer no logging, which the specification deprecates",
    "completion-complete": "we offer no completion",
    "resources-subscribe": "we offer no subscriptions to resources",
    "resources-unsubscribe": "we offer no subscriptions to resources",
    "http-custom-header-server-validation": "none of our tools mirrors an argument into a header",
    "server-sse-polling": "calls the suite's own tool test_reconnection",
    "json-schema-2020-12": "looks at the suite's own tool json_schema_2020_12_tool",
    "tools-call-* and resources-read-* and prompts-get-*": "call the suite's own test_* tools, resources and prompts",
    "elicitation-* and input-required-result-*": "call the suite's own test_* tools",
    "tasks-* and sep-2640-*": "extensions that we don't announce",
}
ERAS = ("2025-11-25", "2026-07-28")


@pytest.fixture(scope="module")
def suite() -> list[str]:
    place = packages.npm(packages.CONFORMANCE)
    program = place / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    return [packages.node("24"), str(program)]


def run(suite: list[str], *arguments: str) -> str:
    environ = {"PYTHONPATH": str(PROJECT), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": "/tmp"}
    result = subprocess.run([*suite, *arguments], capture_output=True, text=True, timeout=240, cwd=PROJECT, env=environ)
    return f"{result.stdout}{result.stderr}" if result.returncode else ""


@pytest.mark.parametrize("scenario", CLIENT)
def test_our_client_passes(suite: list[str], scenario: str) -> None:
    command = f"{sys.executable} -m tests.support.mcp.conformance_client"
    failure = run(suite, "client", "--command", command, "--scenario", scenario, "--timeout", "120000")
    assert not failure, failure[-4_000:]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_sidecar(tmp_path_factory.mktemp("conformance")) as sidecar:
        command = [sys.executable, "-m", "tests.support.mcp.authorizing_proxy", sidecar.url, sidecar.token]
        proxy = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=PROJECT)
        try:
            assert proxy.stdout
            yield f"{proxy.stdout.readline().strip()}/mcp"
        finally:
            proxy.kill()
            proxy.communicate()


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("scenario", SERVER)
def test_our_server_passes(suite: list[str], address: str, scenario: str, era: str) -> None:
    failure = run(suite, "server", "--url", address, "--scenario", scenario, "--spec-version", era)
    assert not failure, failure[-4_000:]
