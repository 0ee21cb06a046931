"""A prompt's content blocks as a task: your words, and beside them what you attached."""

import base64
import posixpath
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from sidecar.acp.rpc import INVALID_PARAMS, RpcError

Json = dict[str, Any]


class EditorPrompt(NamedTuple):
    text: str
    attachments: list[Json]


def parse_prompt(blocks: object, workspace: str) -> EditorPrompt:
    """Text is what you say. Files you name become mentions; embedded contents and images become attachments."""
    if not isinstance(blocks, list):
        raise RpcError(INVALID_PARAMS, "prompt is a list of content blocks.")
    words: list[str] = []
    attachments: list[Json] = []
    for block in blocks:
        match block:
            case {"type": "text", "text": str(text)}:
                words.append(text)
            case {"type": "image", "data": str(data), "mimeType": str(kind)}:
                name = f"image-{len(attachments) + 1}.{kind.rpartition('/')[2]}"
                attachments.append({"name": name, "mediaType": kind, "data": data})
            case {"type": "resource_link", "uri": str(uri)}:
                words.append(_mention(uri, workspace))
            case {"type": "resource", "resource": {"uri": str(uri)} as resource}:
                attachments.append(_embedded(uri, resource, workspace))
            case {"type": str(kind)}:
                raise RpcError(INVALID_PARAMS, f"Content of type {kind} is not supported.")
            case _:
                raise RpcError(INVALID_PARAMS, "A content block is an object with a type.")
    text = "".join(words).strip()
    if not text and not attachments:
        raise RpcError(INVALID_PARAMS, "The prompt is empty.")
    return EditorPrompt(text or "Look at the attachments.", attachments)


def _mention(uri: str, workspace: str) -> str:
    path = _path(uri, workspace)
    return uri if path is None else f"@{path}"


def _embedded(uri: str, resource: Json, workspace: str) -> Json:
    name = _path(uri, workspace) or uri
    if isinstance(text := resource.get("text"), str):
        kind = str(resource.get("mimeType") or "text/plain")
        return {"name": name, "mediaType": kind, "data": base64.b64encode(text.encode()).decode()}
    if isinstance(blob := resource.get("blob"), str):
        return {"name": name, "mediaType": str(resource.get("mimeType") or "application/octet-stream"), "data": blob}
    raise RpcError(INVALID_PARAMS, "An embedded resource has text or a blob.")


def _path(uri: str, workspace: str) -> str | None:
    """A file's path, relative if it is in the workspace; None for what isn't a file."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return None
    path = posixpath.normpath(unquote(parts.path))
    inside = path.startswith(workspace.rstrip("/") + "/")
    return posixpath.relpath(path, workspace) if inside else path
