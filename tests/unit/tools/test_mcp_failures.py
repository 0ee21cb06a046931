"""Why a server failed: what happened, and what to do about it, in one or two sentences."""

from dataclasses import replace

import pytest
from pydantic import TypeAdapter, ValidationError

from tools.mcp.entry import ServerEntry, ServerGrants
from tools.mcp.failures import describe_error, download_hint, sandbox_hint, telling_lines

LOCAL = ServerEntry("s", True, "stdio", ("server",))
REMOTE = ServerEntry("s", True, "http", url="http://127.0.0.1:9/mcp")
NODE = """
node:internal/modules/esm/resolve:275
    throw new ERR_MODULE_NOT_FOUND(
          ^

Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/home/ada/server/stdio.js'
    at finalizeResolution (node:internal/modules/esm/resolve:275:11)
    at moduleResolve (node:internal/modules/esm/resolve:865:10) {
  code: 'ERR_MODULE_NOT_FOUND'
}

Node.js v24.1.0
"""


class ConnectError(Exception):
    pass


class MCPError(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "entry", "words"),
    [
        (TimeoutError(), LOCAL, "It was not ready within 30 s."),
        (MCPError("Connection closed"), LOCAL, "It ended before it was ready."),
        (FileNotFoundError("x is not installed, or not on the PATH"), LOCAL, "x is not installed, or not on the PATH."),
        (ConnectError("All connection attempts failed"), REMOTE, "Nothing answers at http://127.0.0.1:9/mcp."),
        (MCPError("Not Found"), REMOTE, "http://127.0.0.1:9/mcp answered: Not Found."),
        (ExceptionGroup("", [ExceptionGroup("", [ValueError("\x1b[31mred\x1b[0m.")])]), LOCAL, "red."),
    ],
)
def test_a_failure_is_reported_in_a_sentence(error: Exception, entry: ServerEntry, words: str) -> None:
    assert describe_error(error, entry, 30.0) == words


def test_a_message_that_the_protocol_does_not_allow_is_named_by_its_field() -> None:
    with pytest.raises(ValidationError) as raised:
        TypeAdapter(dict[str, int]).validate_python({"tools": "none"})
    told = describe_error(raised.value, LOCAL, 30.0)
    assert told.startswith("It sent what the protocol does not allow: tools: Input should be a valid integer")
    assert "errors.pydantic.dev" not in told


def test_what_a_server_wrote_is_shown_without_its_stack() -> None:
    shown = telling_lines(NODE)
    assert "Cannot find module '/home/ada/server/stdio.js'" in shown
    assert "moduleResolve" not in shown


def test_the_sandbox_is_named_with_the_grant_that_would_help() -> None:
    assert 'grants: {"read"' in sandbox_hint("s", NODE, starting=True)
    assert sandbox_hint("s", "cat: x: No such file or directory") == ""  # an answer of a tool, not of the sandbox
    assert 'grants: {"network"' in sandbox_hint("s", "getaddrinfo EAI_AGAIN registry")
    assert 'grants: {"write"' in sandbox_hint("s", "[Errno 30] Read-only file system: 'a'")


def test_a_launcher_that_may_not_download_is_named() -> None:
    npx = ServerEntry("s", True, "stdio", ("/usr/bin/npx", "-y", "server"))
    assert download_hint(npx).startswith("npx may want to download it")
    assert download_hint(replace(npx, grants=ServerGrants(network=True))) == ""
    assert download_hint(LOCAL) == download_hint(REMOTE) == ""
