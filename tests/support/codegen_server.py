"""Codegen's agent runs, by its published API."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

KEY = "codegen-canary-8f14e45fceea167a"


class CodegenServer:
    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.looks = 0
        #: The statuses that it answers, in order; the last one stays.
        self.statuses = ["PENDING", "ACTIVE", "COMPLETE"]
        #: Statuses of HTTP to answer instead.
        self.refusals: list[int] = []
        self.looked = asyncio.Event()
        self.url = ""

    async def start(self) -> web.AppRunner:
        app = web.Application()
        base = "/v1/organizations/7/agent/run"
        app.add_routes([web.post(base, self._create), web.get(base + "/41", self._get)])
        app.add_routes([web.get(base + "/41/logs", self._logs)])
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        return runner

    def _refused(self, request: web.Request) -> web.Response | None:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return web.json_response({"message": "no", "status_code": 403}, status=403)
        if self.refusals:
            return web.json_response({"message": "busy"}, status=self.refusals.pop(0), headers={"Retry-After": "0"})
        return None

    def _state(self) -> dict[str, Any]:
        status = self.statuses[min(self.looks, len(self.statuses) - 1)]
        done = {"result": "It sorts now.", "summary": "Sorted", "github_pull_requests": [{"url": "https://x/pull/9"}]}
        more = done if status == "COMPLETE" else {}
        return {"id": 41, "organization_id": 7, "status": status, "web_url": "https://codegen.test/41", **more}

    async def _create(self, request: web.Request) -> web.Response:
        if (refused := self._refused(request)) is not None:
            return refused
        self.asked.append(await request.json())
        return web.json_response(self._state())

    async def _get(self, request: web.Request) -> web.Response:
        if (refused := self._refused(request)) is not None:
            return refused
        self.looks += 1
        self.looked.set()
        return web.json_response(self._state())

    async def _logs(self, request: web.Request) -> web.Response:
        skip = int(request.query["skip"])
        logs = [
            {"agent_run_id": 41, "message_type": "ACTION", "tool_name": "ripgrep", "thought": f"look {n}"}
            for n in (1, 2)
        ]
        return web.json_response({**self._state(), "logs": logs[skip:], "total_logs": 2, "page": 1, "size": 100})

    @contextmanager
    def running(self) -> Iterator[None]:
        """In a thread of its own, for tests whose sidecar is another process."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        runner = asyncio.run_coroutine_threadsafe(self.start(), loop).result(60)
        try:
            yield
        finally:
            asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(60)
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()
