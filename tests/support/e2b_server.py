"""E2B's control plane and the daemon inside its machines, as far as its SDK asks, by the SDK's own message types.

A machine is a directory; its commands run in bubblewrap with processes, network and files of their own.
"""

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from tests.waiting import wait_until

KEY = "e2b_0123456789abcdef"
_HOME = "/home/user"


class E2bServer:
    def __init__(self, place: Path) -> None:
        if shutil.which("bwrap") is None:
            pytest.skip("bubblewrap is not installed, which holds the machines of the stand-in")
        self._place = place
        self.machines: dict[str, dict[str, Any]] = {}
        #: Every network configuration that was set, in order.
        self.networks: list[dict[str, Any]] = []
        self._running: dict[str, set[asyncio.subprocess.Process]] = {}
        self.url = ""

    def home(self, machine: str) -> Path:
        return self._place / machine

    @contextmanager
    def running(self) -> Iterator[None]:
        server = uvicorn.Server(
            uvicorn.Config(self._app(), port=0, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
        )
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            wait_until(lambda: server.started, what="the stand-in of E2B")
            port = server.servers[0].sockets[0].getsockname()[1]
            self.url = f"http://127.0.0.1:{port}"
            yield
        finally:
            server.should_exit = True
            thread.join(30)

    def _app(self) -> Starlette:
        from e2b.envd.filesystem.filesystem_connect import FilesystemASGIApplication
        from e2b.envd.process.process_connect import ProcessASGIApplication

        return Starlette(
            routes=[
                Route("/sandboxes", self._create, methods=["POST"]),
                Route("/v2/sandboxes", self._create, methods=["POST"]),
                Route("/v2/sandboxes", self._list, methods=["GET"]),
                Route("/sandboxes/{id}", self._kill, methods=["DELETE"]),
                Route("/sandboxes/{id}/network", self._network, methods=["PUT"]),
                Route("/files", self._files, methods=["GET", "POST"]),
                Route("/health", self._health),
                Mount("/process.Process", _Whole(ProcessASGIApplication(_Processes(self)), "/process.Process")),
                Mount(
                    "/filesystem.Filesystem",
                    _Whole(FilesystemASGIApplication(_Files(self)), "/filesystem.Filesystem"),
                ),
            ]
        )

    # -- control plane -------------------------------------------------------------------------------------------------

    async def _create(self, request: Request) -> Response:
        if request.headers.get("x-api-key") != KEY:
            return JSONResponse({"code": 401, "message": "Invalid API key"}, 401)
        asked = await request.json()
        name = f"m{len(self.networks) + 1}"
        self.machines[name] = asked
        self.networks.append(asked.get("network") or {})
        self._running[name] = set()
        self.home(name).mkdir(parents=True)
        made = {"templateID": asked["templateID"], "sandboxID": name, "clientID": "c", "envdVersion": "0.6.7"}
        return JSONResponse(made, 201)

    async def _list(self, request: Request) -> Response:
        wanted = request.query_params.get("metadata", "")
        found = [
            {
                "templateID": asked["templateID"],
                "sandboxID": name,
                "clientID": "c",
                "startedAt": "2026-01-01T00:00:00Z",
                "endAt": "2026-01-01T01:00:00Z",
                "cpuCount": 1,
                "memoryMB": 1,
                "diskSizeMB": 1,
                "state": "running",
                "envdVersion": "0.6.7",
                "metadata": asked.get("metadata", {}),
            }
            for name, asked in self.machines.items()
            if all(f"{key}={value}" in wanted for key, value in asked.get("metadata", {}).items())
        ]
        return JSONResponse(found)

    async def _kill(self, request: Request) -> Response:
        name = request.path_params["id"]
        if self.machines.pop(name, None) is None:
            return JSONResponse({"code": 404, "message": "not found"}, 404)
        for process in self._running.pop(name):
            with suppress(ProcessLookupError):
                process.kill()
        shutil.rmtree(self.home(name), ignore_errors=True)
        return Response(status_code=204)

    async def _network(self, request: Request) -> Response:
        self.networks.append(await request.json())
        return Response(status_code=204)

    # -- inside a machine ----------------------------------------------------------------------------------------------

    async def _health(self, request: Request) -> Response:
        return Response(status_code=204 if request.headers.get("e2b-sandbox-id") in self.machines else 502)

    def inside(self, headers: Any, path: str) -> Path:
        machine = headers.get("e2b-sandbox-id")
        assert machine in self.machines, "the machine is gone"
        assert path.startswith(f"{_HOME}/")
        return self.home(machine) / path.removeprefix(f"{_HOME}/")

    async def _files(self, request: Request) -> Response:
        path = request.query_params["path"]
        place = self.inside(request.headers, path)
        if request.method == "GET":
            return Response(place.read_bytes()) if place.exists() else JSONResponse({"message": "no such file"}, 404)
        place.parent.mkdir(parents=True, exist_ok=True)
        if request.headers.get("content-type", "").startswith("multipart/"):
            async with request.form() as form:
                (file,) = form.getlist("file")
                place.write_bytes(await file.read())  # type: ignore[union-attr]
        else:
            place.write_bytes(await request.body())
        return JSONResponse([{"name": place.name, "type": "file", "path": path}])

    async def start(self, headers: Any, config: Any) -> asyncio.subprocess.Process:
        """Always with processes of its own: the SDK's user ends all of its processes after each command."""
        machine = headers.get("e2b-sandbox-id")
        assert machine in self.machines, "the machine is gone"
        line = ["bwrap", "--die-with-parent", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--ro-bind", "/", "/"]
        line += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/home"]
        line += ["--bind", str(self.home(machine)), _HOME, "--chdir", config.cwd or _HOME, "--clearenv"]
        for name, value in {"PATH": "/usr/bin:/bin", "HOME": _HOME, **config.envs}.items():
            line += ["--setenv", name, value]
        # Without `-l`: the profile of this machine is no part of a template.
        words = [config.cmd, *(word for word in config.args if word != "-l")]
        process = await asyncio.create_subprocess_exec(
            *line, "--", *words, stdin=asyncio.subprocess.DEVNULL, stdout=-1, stderr=-1
        )
        self._running[machine].add(process)
        return process


class _Whole:
    """Mounted with its prefix: the application knows its own paths."""

    def __init__(self, app: Any, prefix: str) -> None:
        self._app, self._prefix = app, prefix

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app({**scope, "root_path": "", "path": scope["path"]}, receive, send)


class _Processes:
    def __init__(self, server: E2bServer) -> None:
        self._server = server

    async def start(self, request: Any, context: Any) -> AsyncIterator[Any]:
        from e2b.envd.process import process_pb as pb
        from protobuf import Oneof

        process = await self._server.start(context.request_headers, request.process)

        def event(kind: Any, value: Any) -> Any:
            return pb.StartResponse(event=pb.ProcessEvent(event=Oneof(kind, value)))

        yield event("start", pb.ProcessEvent.StartEvent(pid=process.pid))
        chunks: asyncio.Queue[tuple[Any, bytes] | None] = asyncio.Queue(64)

        async def drain(kind: Any, stream: asyncio.StreamReader) -> None:
            while data := await stream.read(32_768):
                await chunks.put((kind, data))
            await chunks.put(None)

        assert process.stdout and process.stderr
        drains = [
            asyncio.ensure_future(drain(*each)) for each in (("stdout", process.stdout), ("stderr", process.stderr))
        ]
        try:
            open_streams = 2
            while open_streams:
                chunk = await chunks.get()
                if chunk is None:
                    open_streams -= 1
                else:
                    yield event("data", pb.ProcessEvent.DataEvent(output=Oneof(*chunk)))
            code = await process.wait()
            yield event("end", pb.ProcessEvent.EndEvent(exit_code=code, exited=True, status="exited"))
        finally:
            for each in drains:
                each.cancel()

    def __getattr__(self, name: str) -> Any:
        return _unimplemented


class _Files:
    def __init__(self, server: E2bServer) -> None:
        self._server = server

    async def stat(self, request: Any, context: Any) -> Any:
        from e2b.envd.filesystem import filesystem_pb as pb

        place = self._server.inside(context.request_headers, request.path)
        found = place.stat()
        entry = pb.EntryInfo(
            name=place.name, type=pb.FileType.FILE, path=request.path, size=found.st_size, mode=found.st_mode & 0o777
        )
        return pb.StatResponse(entry=entry)

    def __getattr__(self, name: str) -> Any:
        return _unimplemented


async def _unimplemented(*args: Any) -> Any:
    raise NotImplementedError
