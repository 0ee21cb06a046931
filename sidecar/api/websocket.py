"""uvicorn's WebSocket, which lets go of a peer that does not answer. Imported by the first shell that connects."""

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request


class Socket(WebSocketsSansIOProtocol):
    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == 101:
            # Closing waits until the peer has read everything, which a stuck one never does.
            self.scope["state"]["abort"] = self.transport.abort
            self.scope["state"]["write_now"] = self.write_now

    def write_now(self, text: str) -> bool:
        """Writes without a turn of the event loop, which costs more than a small frame; false if it must wait."""
        if not self.writable.is_set() or self.close_sent or self.disconnected or self.transport.is_closing():
            return False
        self.conn.send_text(text.encode())
        self.transport.write(b"".join(self.conn.data_to_send()))
        return True

    async def send(self, message: ASGISendEvent) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            # A refusal is the end of a handshake too, and nothing to complain of in the log.
            self.handshake_complete = True

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()
