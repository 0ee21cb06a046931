"""An MCP server of the official package over streamable HTTP, which prints its address: for benchmarks."""

import socket
import sys

import uvicorn
from mcp.server.mcpserver import MCPServer


def main() -> None:
    server = MCPServer("echo")

    @server.tool(structured_output=False)
    def echo(text: str) -> str:
        """Returns the text."""
        return text

    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    application = server.streamable_http_app()
    uvicorn.Server(uvicorn.Config(application, log_level="error")).run(sockets=[listener])


if __name__ == "__main__":
    sys.exit(main())
