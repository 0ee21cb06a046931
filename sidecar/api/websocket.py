"""uvicorn's WebSocket, which drops a peer that doesn't answer. Imported when the first shell connects."""

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request


class Socket(WebSocketsSansIOProtocol):
    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == 101:
            # Closing waits until the peer has read everything; a stuck peer never does.
            self.scope["state"]["abort"] = self.transport.abort
            self.scope["state"]["write_now"] = self.write_now

    def write_now(self, text: str) -> bool:
        """Write without yielding to the event loop, which costs more than a small frame; False if it must wait."""
        if not self.writable.is_set() or self.close_sent or self.disconnected or self.transport.is_closing():
            return False
        self.conn.send_text(text.encode())
        self.transport.write(b"".join(self.conn.data_to_send()))
        return True

    async def send(self, message: ASGISendEvent) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            # A refusal also ends the handshake; uvicorn would log it as an error.
            self.handshake_complete = True

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()
