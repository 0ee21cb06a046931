"""A server's result as our own: bounded text for the model, images as attachments, nothing that a terminal obeys."""

import json
from typing import Any

from pydantic import JsonValue

from sidecar.wire.base import ErrorBody
from tools.mcp.failures import sandbox_hint
from tools.mcp.listing import clean
from tools.spec import ToolResult
from tools.text import clip

#: What is kept of one text before anything else looks at it.
_MAX_TEXT = 500_000
_MAX_PARTS = 200
_MAX_IMAGES = 8
_MAX_IMAGE = 5_000_000
_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def to_result(server: str, result: Any, *, confined: bool) -> ToolResult:
    parts, images = _parts(result.content[:_MAX_PARTS])
    structured = result.structured_content
    if structured is not None and not any(part.strip() for part in parts):
        parts.append(json.dumps(structured, indent=1, ensure_ascii=False)[:_MAX_TEXT])
    text = clip(clean("\n".join(parts)))
    if confined and (hint := sandbox_hint(server, text)):
        text += f"\n{hint}"
    details: dict[str, JsonValue] = {"server": server}
    if structured is not None and len(json.dumps(structured)) <= 20_000:
        details["structured"] = structured
    if images:
        details["attachments"] = images
    summary = text[:2_000].strip().partition("\n")[0][:200] or "no text"
    if result.is_error:
        return ToolResult(
            text or "It failed without a reason.",
            details,
            summary,
            ErrorBody(code="mcp_tool_error", message=clip(text, 2_000)),
        )
    return ToolResult(text or "(no content)", details, summary)


def _parts(content: list[Any]) -> tuple[list[str], list[JsonValue]]:
    parts: list[str] = []
    images: list[JsonValue] = []
    for block in content:
        match block.type:
            case "text":
                parts.append(block.text[:_MAX_TEXT])
            case "image" if block.mime_type in _IMAGES and len(block.data) <= _MAX_IMAGE and len(images) < _MAX_IMAGES:
                images.append({"name": f"image {len(images) + 1}", "mediaType": block.mime_type, "data": block.data})
            case "resource_link":
                parts.append(f"[resource {block.uri}: {block.name}]"[:2_000])
            case "resource":
                parts.append(_resource(block.resource))
            case kind:
                parts.append(f"[{kind} left out]")
    return parts, images


def _resource(resource: Any) -> str:
    text = getattr(resource, "text", None)
    head = f"[{resource.uri}]"[:2_000]
    return f"{head}\n{text[:_MAX_TEXT]}" if isinstance(text, str) else f"{head} (binary, left out)"
