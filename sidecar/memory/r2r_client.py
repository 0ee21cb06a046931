"""The REST API of R2R 3.6, as far as the memory uses it: collections, documents and search.

R2R is no longer maintained; this is for people who already run one. Requests go only to the configured server, without
redirects and without a proxy, and each has limits of time and size. All methods block: call them in a thread.
"""

import json
import ssl
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit
from uuid import NAMESPACE_URL, uuid5

_SECONDS = 10.0
_MAX_ANSWER = 8 << 20
_PAGE = 1_000
_MAX_PAGES = 50


class R2RError(Exception):
    """What went wrong, in words for a log."""


class StoredDocument(NamedTuple):
    id: str
    path: str
    hash: str


class FoundText(NamedTuple):
    """A piece of a document as R2R has it; the file may say something else by now."""

    path: str
    text: str


class R2RClient:
    def __init__(self, url: str, key: str = "") -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise R2RError(f"r2r_url must begin with http:// or https://, not {url[:100]!r}")
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        self._base = parts.path.rstrip("/")
        self._key = key

    def collection(self, name: str, *, create: bool = True) -> str:
        """The id of the collection of this name; empty if there is none."""
        for each in self._pages("/v3/collections", {"owner_only": "true"}):
            if each.get("name") == name:
                return str(each.get("id"))
        if not create:
            return ""
        return str(_mapping(self._call("POST", "/v3/collections", {"name": name})).get("id", ""))

    def documents(self, collection: str) -> list[StoredDocument]:
        found = []
        for each in self._pages(f"/v3/collections/{quote(collection, safe='')}/documents", {}):
            metadata = _mapping(each.get("metadata"))
            document = StoredDocument(str(each.get("id")), str(metadata.get("path")), str(metadata.get("hash")))
            found.append(document)
        return found

    def add(self, collection: str, path: str, digest: str, text: str) -> None:
        # R2R's own id is made of the text, and two files may have the same.
        form = {
            "id": str(uuid5(NAMESPACE_URL, f"{collection}/{path}/{digest}")),
            "raw_text": text,
            "collection_ids": json.dumps([collection]),
            "metadata": json.dumps({"title": path, "path": path, "hash": digest}),
            "ingestion_mode": "fast",
        }
        self._call("POST", "/v3/documents", form, encoded=True)

    def delete_document(self, document: str) -> None:
        self._call("DELETE", f"/v3/documents/{quote(document, safe='')}")

    def delete_collection(self, collection: str) -> None:
        self._call("DELETE", f"/v3/collections/{quote(collection, safe='')}")

    def search(self, collection: str, query: str, limit: int) -> list[FoundText]:
        settings = {
            "limit": limit,
            "use_hybrid_search": True,
            "filters": {"collection_ids": {"$overlap": [collection]}},
            "graph_settings": {"enabled": False},
        }
        body = {"query": query, "search_mode": "custom", "search_settings": settings}
        results = _mapping(self._call("POST", "/v3/retrieval/search", body))
        found = []
        for each in _list(results.get("chunk_search_results"))[:limit]:
            chunk = _mapping(each)
            path, text = _mapping(chunk.get("metadata")).get("path"), chunk.get("text")
            if isinstance(path, str) and isinstance(text, str):
                found.append(FoundText(path, text))
        return found

    def _pages(self, path: str, query: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
        for number in range(_MAX_PAGES):
            page = urlencode({**query, "offset": number * _PAGE, "limit": _PAGE})
            rows = _list(self._call("GET", f"{path}?{page}"))
            yield from map(_mapping, rows)
            if len(rows) < _PAGE:
                return

    def _call(self, method: str, path: str, body: Mapping[str, object] | None = None, *, encoded: bool = False) -> Any:
        """The `results` of the answer."""
        headers = {"Accept": "application/json"}
        if self._key:
            headers["X-API-Key"] = self._key
        data = None
        if body is not None:
            data = (urlencode(body) if encoded else json.dumps(body)).encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded" if encoded else "application/json"
        connection = self._connect()
        try:
            connection.request(method, self._base + path, data, headers)
            answer = connection.getresponse()
            content = answer.read(_MAX_ANSWER + 1)
            status = answer.status
        except (OSError, HTTPException) as error:
            raise R2RError(f"R2R at {self._host} can't be reached: {error}") from error
        finally:
            connection.close()
        if not 200 <= status < 300 or len(content) > _MAX_ANSWER:
            why = f"status {status}" if len(content) <= _MAX_ANSWER else "more than 8 MiB"
            raise R2RError(f"R2R answered {method} {path.partition('?')[0]} with {why}")
        try:
            return _mapping(json.loads(content or b"{}")).get("results")
        except (ValueError, RecursionError) as error:
            raise R2RError("R2R's answer is not JSON") from error

    def _connect(self) -> HTTPConnection:
        if self._secure:
            return HTTPSConnection(self._host, self._port, timeout=_SECONDS, context=ssl.create_default_context())
        return HTTPConnection(self._host, self._port, timeout=_SECONDS)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
