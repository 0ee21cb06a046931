"""S3: DNS rebinding: only a loopback name with our own port is a Host."""

import socket
from pathlib import Path

from tests.e2e.support import running_sidecar
from tests.waiting import SECONDS


def answer_to(port: int, head: str) -> int:
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        connection.sendall(f"GET /health HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode())
        return int(connection.recv(4096).split()[1])


def test_s03_a_host_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        port = sidecar.port
        for ours in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}", f"LOCALHOST:{port}"):
            assert answer_to(port, f"Host: {ours}\r\n") == 200
        strangers = [
            "evil.com",
            f"evil.com:{port}",
            f"127.0.0.1.nip.io:{port}",
            f"0.0.0.0:{port}",
            f"127.0.0.1:{port + 1}",
            "127.0.0.1",
            "localhost",
            f"localhost.:{port}",
            f"evil@127.0.0.1:{port}",
            f"127.0.0.1:{port}:80",
            "",
        ]
        for host in strangers:
            assert answer_to(port, f"Host: {host}\r\n") == 400, host
        assert answer_to(port, "") == 400
        assert answer_to(port, f"Host: 127.0.0.1:{port}\r\nHost: evil.com\r\n") == 400
