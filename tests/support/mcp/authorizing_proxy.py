"""Adds a token to every request, for programs that can't send one, such as the conformance suite.

`python -m tests.support.mcp.authorizing_proxy URL TOKEN` prints its own address.
"""

import asyncio
import re
import sys
from contextlib import suppress
from urllib.parse import urlsplit


class AuthorizingProxy:
    def __init__(self, url: str, token: str) -> None:
        self._upstream = urlsplit(url)
        self._token = token
        self._serving: set[asyncio.Task[None]] = set()

    async def start(self) -> str:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{self.port}"

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            there, back = await asyncio.open_connection(self._upstream.hostname, self._upstream.port)
            back.write(self._rewrite(head).encode("latin-1"))
            upward = asyncio.create_task(_copy(reader, back))
            await _copy(there, writer)
            upward.cancel()
            back.close()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _rewrite(self, head: str) -> str:
        """Our own name becomes the sidecar's; any other is passed on, so that the sidecar refuses it."""
        head = re.sub(
            rf"(?im)^host: (?:localhost|127\.0\.0\.1|\[::1\]):{self.port}\r$",
            f"Host: {self._upstream.netloc}\r",
            head,
        )
        own = rf"(?im)^origin: http://(?:localhost|127\.0\.0\.1):{self.port}\r$"
        head = re.sub(own, f"Origin: http://{self._upstream.netloc}\r", head)
        head = re.sub(r"(?im)^connection: [^\r]*\r\n", "", head)
        first, rest = head.split("\r\n", 1)
        return f"{first}\r\nAuthorization: Bearer {self._token}\r\nConnection: close\r\n{rest}"


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()


async def main() -> None:
    print(await AuthorizingProxy(sys.argv[1], sys.argv[2]).start(), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
