"""S36: a command in a sandbox reaches the hosts that you granted by name, and nothing else."""

import gc
import os
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sidecar.config.grants import Permissions
from tests.security.sandboxed import SandboxedWorkbench
from tools.executor.executor import Executor
from tools.ledger import Outcome
from tools.policy.policy import Policy

#: Prints the status and the text of each address, through the proxy that its environment names.
_FETCH = """
import sys, urllib.error, urllib.request
for url in sys.argv[1:]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            print(answer.status, answer.read().decode().strip())
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode().strip())
    except OSError as error:
        print("failed", error)
"""
#: Speaks to the proxy itself: what it is given is a line and a body.
_RAW = """
import os, socket, sys, urllib.parse
proxy = urllib.parse.urlsplit(os.environ["HTTP_PROXY"])
with socket.create_connection((proxy.hostname, proxy.port), 10) as own:
    own.sendall(sys.argv[1].encode().decode("unicode_escape").encode("latin-1"))
    own.shutdown(socket.SHUT_WR)
    text = b""
    while data := own.recv(65536):
        text += data
print(text.decode("latin-1"))
"""


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def do_GET(self) -> None:
        self._answer(f"hello {self.path}".encode())

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def server() -> Iterator[int]:
    serving = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=serving.serve_forever)
    thread.start()
    yield serving.server_port
    serving.shutdown()
    thread.join()
    serving.server_close()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[SandboxedWorkbench]:
    bench = SandboxedWorkbench(tmp_path, "bubblewrap")
    bench.write("fetch.py", _FETCH)
    bench.write("raw.py", _RAW)
    grant(bench, "localhost")
    yield bench
    await bench.executor.close()


def grant(bench: SandboxedWorkbench, *hosts: str) -> None:
    policy = Policy(permissions=lambda workspace: Permissions(hosts=hosts))
    bench.executor = Executor(bench.registry, [bench.backend], policy)


async def run(bench: SandboxedWorkbench, script: str, *words: str) -> Outcome:
    return await bench.call("run_command", command=[sys.executable, script, *words], timeoutMs=60_000)


async def test_s36_a_granted_host_answers(bench: SandboxedWorkbench, server: int) -> None:
    outcome = await run(bench, "fetch.py", f"http://localhost:{server}/a?b=1")
    assert outcome.content == "200 hello /a?b=1"


async def test_s36_a_granted_host_gets_the_body_of_a_request(bench: SandboxedWorkbench, server: int) -> None:
    request = f"POST http://localhost:{server}/ HTTP/1.1\\r\\ncontent-length: 4\\r\\n\\r\\nbody"
    assert (await run(bench, "raw.py", request)).content.endswith("body")


async def test_s36_a_command_that_cannot_start_leaves_no_socket(bench: SandboxedWorkbench, server: int) -> None:
    """One that is closed by its number stays an object, and closes what has that number when it is collected."""
    outcome = await run(bench, "fetch.py", *["x" * 90_000] * 30)
    assert outcome.error is not None and outcome.error.code == "not_started", outcome.content
    others = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]
    gc.collect()
    for each in others:
        os.close(each)
    assert (await run(bench, "fetch.py", f"http://localhost:{server}/a")).content == "200 hello /a"


async def test_s36_a_granted_host_is_reached_through_a_tunnel(bench: SandboxedWorkbench, server: int) -> None:
    request = f"CONNECT localhost:{server} HTTP/1.1\\r\\n\\r\\nGET /x HTTP/1.0\\r\\n\\r\\n"
    assert "hello /x" in (await run(bench, "raw.py", request)).content


@pytest.mark.parametrize(
    "name", ["127.0.0.1", "example.com", "xlocalhost", "localhost.evil", "[::1]", "0.0.0.0", "2130706433"]
)
async def test_s36_no_other_name_is_reached(bench: SandboxedWorkbench, server: int, name: str) -> None:
    for line in (f"CONNECT {name}:{server} HTTP/1.1\\r\\n\\r\\n", f"GET http://{name}:{server}/ HTTP/1.1\\r\\n\\r\\n"):
        said = (await run(bench, "raw.py", line)).content
        assert "403 Forbidden" in said and "hello" not in said
        assert "brain policy allow-host" in said


@pytest.mark.parametrize(
    "line",
    [
        "GET http://localhost@127.0.0.1:{port}/ HTTP/1.1\\r\\n\\r\\n",
        "GET http://127.0.0.1:{port}/ HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n",
        "GET file://localhost/etc/passwd HTTP/1.1\\r\\n\\r\\n",
        "GET / HTTP/1.1\\r\\nHost: localhost:{port}\\r\\n\\r\\n",
        "CONNECT localhost:{port}@127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\nGET / HTTP/1.0\\r\\n\\r\\n",
        "nonsense\\r\\n\\r\\n",
        "\\x00\\xff\\r\\n\\r\\n",
        "CONNECT localhost:99999999 HTTP/1.1\\r\\n\\r\\n",
    ],
)
async def test_s36_no_odd_request_gets_through(bench: SandboxedWorkbench, server: int, line: str) -> None:
    said = (await run(bench, "raw.py", line.replace("{port}", str(server)))).content
    assert "hello" not in said and "root:" not in said


async def test_s36_a_second_request_on_a_connection_reaches_no_other_host(
    bench: SandboxedWorkbench, server: int
) -> None:
    first = f"GET http://localhost:{server}/first HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n"
    second = f"GET http://127.0.0.1:{server}/second HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"
    said = (await run(bench, "raw.py", first + second)).content
    assert "hello /first" in said and "hello /second" not in said


async def test_s36_a_name_that_leads_to_this_machine_is_not_reached(
    bench: SandboxedWorkbench, server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name of the outside that resolves to the loopback or a metadata service."""
    real = socket.getaddrinfo

    def resolve(host: str, port: int, *args: object, **options: object) -> object:
        address = {"rebinding.example": "127.0.0.1", "metadata.example": "169.254.169.254"}.get(host, host)
        return real(address, port, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    grant(bench, "rebinding.example", "metadata.example")
    for name in ("rebinding.example", "metadata.example"):
        said = (await run(bench, "raw.py", f"GET http://{name}:{server}/ HTTP/1.1\\r\\n\\r\\n")).content
        assert "502 Bad Gateway" in said and "hello" not in said


async def test_s36_without_a_grant_there_is_no_way_out(bench: SandboxedWorkbench, server: int) -> None:
    grant(bench)
    assert "failed" in (await run(bench, "fetch.py", f"http://localhost:{server}/")).content


async def test_s36_what_was_revoked_is_out_of_reach_at_once(bench: SandboxedWorkbench, server: int) -> None:
    assert "200" in (await run(bench, "fetch.py", f"http://localhost:{server}/")).content
    grant(bench, "example.com")
    said = (await run(bench, "raw.py", f"GET http://localhost:{server}/ HTTP/1.1\\r\\n\\r\\n")).content
    assert "403" in said


async def test_s36_the_command_itself_is_as_it_was(bench: SandboxedWorkbench) -> None:
    """Its own loopback, its arguments and its exit code are its own."""
    outcome = await bench.call("run_command", command='printf "%s|" "$0" a "b c"; exit 7')
    assert "b c|" in outcome.content
    assert isinstance(outcome.details, dict) and outcome.details["exitCode"] == 7
    listing = "import os; print(sorted(os.listdir('/proc/self/fd')))"
    assert "'4'" not in (await bench.call("run_command", command=[sys.executable, "-c", listing])).content
