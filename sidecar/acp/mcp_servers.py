"""The MCP servers that a client hands over with a session, as entries of `mcp.json`."""

from typing import Any

from sidecar.acp.rpc import INVALID_PARAMS, RpcError

Json = dict[str, Any]


def parse_servers(servers: object) -> dict[str, Json]:
    """By name. Raises `RpcError` for a server that can't be used at all."""
    if not isinstance(servers, list):
        raise RpcError(INVALID_PARAMS, "mcpServers is a list.")
    return dict(_parse(server) for server in servers)


def _parse(server: object) -> tuple[str, Json]:
    match server:
        case {"type": "http", "name": str(name), "url": str(url), **rest}:
            return name, {"type": "http", "url": url, "headers": _pairs(rest.get("headers"))}
        case {"name": str(name), "command": str(command), **rest} if rest.get("type", "stdio") == "stdio":
            words = rest.get("args") or []
            return name, {"command": command, "args": words, "env": _pairs(rest.get("env"))}
    raise RpcError(INVALID_PARAMS, "An MCP server has a name and a command, or the type http and a url.")


def _pairs(listed: object) -> dict[str, str]:
    """`[{name, value}]` as a mapping."""
    if not isinstance(listed, list):
        return {}
    return {
        str(each["name"]): str(each["value"])
        for each in listed
        if isinstance(each, dict) and {"name", "value"} <= each.keys()
    }
