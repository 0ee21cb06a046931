"""A Git server on loopback: Git's own `http-backend` behind a small HTTP server that records every request."""

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass
class GitServer:
    root: Path
    port: int = 0
    #: Path and `Authorization` of every request.
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    #: Where every request is redirected to, if anywhere.
    redirect: str | None = None
    #: Called with the path of each request before it is handled.
    asked: Callable[[str], None] = lambda path: None
    #: Called after each push, before it is answered.
    pushed: Callable[[], None] = lambda: None

    def url(self, name: str) -> str:
        return f"http://localhost:{self.port}/{name}"


@contextmanager
def git_server(root: Path) -> Iterator[GitServer]:
    server = GitServer(root)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.requests.append((self.path, self.headers.get("Authorization")))
            server.asked(self.path)
            if server.redirect is not None:
                self.send_response(302)
                self.send_header("Location", f"{server.redirect}{self.path}")
                self.end_headers()
                return
            path, _, query = self.path.partition("?")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            environment = {
                **os.environ,
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_PROJECT_ROOT": str(root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "REMOTE_USER": "tester",
            }
            done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=True)
            if path.endswith("git-receive-pack") and self.command == "POST":
                server.pushed()
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            headers = [line.partition(b": ")[::2] for line in head.split(b"\r\n")]
            status = next((int(value.split()[0]) for name, value in headers if name == b"Status"), 200)
            self.send_response(status)
            for name, value in headers:
                if name != b"Status":
                    self.send_header(name.decode(), value.decode())
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None: ...

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that was killed takes no answer."""

    serving = Server(("127.0.0.1", 0), Handler)
    server.port = serving.server_port
    thread = threading.Thread(target=serving.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        serving.shutdown()
        thread.join()
        serving.server_close()
