"""A small server that follows the REST API of R2R 3.6, on this machine."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

from tests.waiting import SECONDS

KEY = "r2r-key-of-the-test"


class Server(ThreadingHTTPServer):
    """Collections and documents in memory; a search answers each document of the collection that holds a word."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.collections: dict[str, str] = {}
        self.documents: dict[str, dict[str, Any]] = {}
        self.extra: list[dict[str, Any]] = []
        self.broken = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, format: str, *args: object) -> None:
        return

    def answer(self, results: object, status: int = 200) -> None:
        body = json.dumps({"results": results}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_request_of(self, method: str) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        if self.server.broken or self.headers.get("X-API-Key") != KEY:
            self.answer(None, 500 if self.server.broken else 401)
            return
        match method, *parts.path.removeprefix("/v3/").split("/"):
            case "GET", "collections":
                self.answer(self.page(parts.query, [{"id": k, "name": v} for k, v in self.server.collections.items()]))
            case "POST", "collections":
                key = str(uuid4())
                self.server.collections[key] = json.loads(content)["name"]
                self.answer({"id": key, "name": self.server.collections[key]})
            case "DELETE", "collections", key:
                del self.server.collections[key]
                self.answer({"success": True})
            case "GET", "collections", key, "documents":
                own = [each for each in self.server.documents.values() if key in each["collection_ids"]]
                self.answer(self.page(parts.query, own))
            case "POST", "documents":
                self.add_document(parse_qs(content.decode(), strict_parsing=True))
            case "DELETE", "documents", key:
                del self.server.documents[key]
                self.answer({"success": True})
            case "POST", "retrieval", "search":
                self.search(json.loads(content))
            case _:
                self.answer(None, 404)

    def page(self, query: str, rows: list[Any]) -> list[Any]:
        fields = parse_qs(query)
        offset, limit = int(fields["offset"][0]), int(fields["limit"][0])
        assert 1 <= limit <= 1_000
        return rows[offset : offset + limit]

    def add_document(self, form: dict[str, list[str]]) -> None:
        known = {"file", "raw_text", "chunks", "id", "collection_ids", "metadata", "ingestion_mode", "ingestion_config"}
        key = str(UUID(form["id"][0]))
        if not form.keys() <= known or key in self.server.documents:
            self.answer(None, 422 if form.keys() - known else 409)
            return
        self.server.documents[key] = {
            "id": key,
            "collection_ids": [str(UUID(each)) for each in json.loads(form["collection_ids"][0])],
            "metadata": json.loads(form["metadata"][0]),
            "text": form["raw_text"][0],
        }
        self.answer({"message": "Ingestion task queued successfully.", "document_id": key}, 202)

    def search(self, body: dict[str, Any]) -> None:
        settings = body["search_settings"]
        (collection,) = settings["filters"]["collection_ids"]["$overlap"]
        found = [
            {"id": str(uuid4()), "document_id": each["id"], "text": each["text"], "metadata": each["metadata"]}
            for each in self.server.documents.values()
            if collection in each["collection_ids"] and any(word in each["text"] for word in body["query"].split())
        ]
        self.answer({"chunk_search_results": (found + self.server.extra)[: settings["limit"]]})

    def do_GET(self) -> None:
        self.handle_request_of("GET")

    def do_POST(self) -> None:
        self.handle_request_of("POST")

    def do_DELETE(self) -> None:
        self.handle_request_of("DELETE")


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(SECONDS)
