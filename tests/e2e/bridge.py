"""Shells against the real process: one written by hand, which speaks the wire by its letter, and the reference."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.e2e.support import PROJECT, SECONDS, Json, RunningSidecar, _first_line

SUBPROTOCOL = "rainy.bridge.v1"


class RawShell:
    def __init__(self, socket: ClientConnection, workspace: str) -> None:
        self.socket = socket
        self._workspace = workspace

    def hello(self, *tools: str, **more: Any) -> Json:
        shell = {"name": "raw", "version": "1"}
        self.send(type="hello", shell=shell, workspace=self._workspace, tools=list(tools), **more)
        return self.next("welcome")

    def send(self, **frame: Any) -> None:
        self.socket.send(json.dumps(frame))

    def next(self, kind: str | None = None) -> Json:
        frame: Json = json.loads(self.socket.recv(timeout=SECONDS))
        assert kind is None or frame["type"] == kind, frame
        return frame

    def result(self, call_id: str, content: str, **more: Any) -> None:
        self.send(type="tool_result", id=call_id, result={"content": content, **more})


@contextmanager
def raw_shell(sidecar: RunningSidecar, query: str = "", **options: Any) -> Iterator[RawShell]:
    headers = {"Authorization": f"Bearer {sidecar.token}"} | options.pop("headers", {})
    address = f"ws://127.0.0.1:{sidecar.port}/api/brain/bridge{query}"
    options = {"additional_headers": headers, "subprotocols": [SUBPROTOCOL], "max_size": None} | options
    with connect(address, proxy=None, compression=None, **options) as socket:
        yield RawShell(socket, str(sidecar.workspace))


class ShellProcess:
    """`brain shell` in a process of its own."""

    def __init__(self, sidecar: RunningSidecar, *arguments: str) -> None:
        command = [sys.executable, "-m", "sidecar", "shell", "--data-dir", str(sidecar.data_dir)]
        command += ["--workspace", str(sidecar.workspace), *arguments]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=sidecar.environ, cwd=PROJECT, stdin=subprocess.PIPE
        )

    def connected(self) -> Json:
        """Waits for the next connection."""
        line = _first_line(self.process, SECONDS)
        assert line, "The shell did not connect."
        said: Json = json.loads(line)
        return said

    def close(self) -> int:
        if self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(SECONDS)
        for pipe in (self.process.stdout, self.process.stdin):
            if pipe is not None:
                pipe.close()
        return code


@contextmanager
def shell_process(sidecar: RunningSidecar, *arguments: str) -> Iterator[ShellProcess]:
    shell = ShellProcess(sidecar, *arguments)
    try:
        shell.connected()
        yield shell
    finally:
        shell.close()
