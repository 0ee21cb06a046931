"""Your attachments: pictures of the kinds that every provider takes, and text. Others are only mentioned.

A provider would refuse a picture of another kind, with every turn.
"""

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence

from sidecar.engine.state import UserMessage
from sidecar.models.port import Image, UserTurn
from sidecar.wire.tasks import Attachment
from tools.text import fenced

_MAX_CHARACTERS = 20_000
#: The first bytes of each kind. The stated type may be wrong, and providers check.
_SIGNATURES = {
    "image/png": rb"\x89PNG",
    "image/jpeg": rb"\xff\xd8\xff",
    "image/gif": rb"GIF8",
    "image/webp": rb"RIFF....WEBP",
}


def parse_attachments(attachments: Sequence[Attachment]) -> tuple[list[str], list[Image]]:
    texts: list[str] = []
    images: list[Image] = []
    for each in attachments:
        content = _content(each.data)
        kind = _picture_type(content, each.media_type)
        if content is not None and kind is not None:
            images.append(Image(media_type=kind, data=b64encode(content).decode()))
        else:
            texts.append(_render(each, content))
    return texts, images


def user_turn(message: UserMessage) -> UserTurn:
    """A message of yours, with its attachments."""
    texts, images = parse_attachments(message.attachments or ())
    return UserTurn(text="\n\n".join([*texts, message.text]), images=images)


def _content(data: str) -> bytes | None:
    # A data URL: data:image/png;base64,…
    encoded = data.partition(",")[2] if data.startswith("data:") else data
    try:
        return b64decode("".join(encoded.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def _picture_type(content: bytes | None, media_type: str) -> str | None:
    if not content:
        return None
    found = next((kind for kind, signature in _SIGNATURES.items() if re.match(signature, content, re.S)), None)
    return found or (media_type if media_type in _SIGNATURES else None)


def _render(attachment: Attachment, content: bytes | None) -> str:
    try:
        text = (content or b"").decode("utf-8")
    except ValueError:
        text = ""
    if not text:
        why = "which is empty" if content == b"" else "which can't be shown to you"
        return f"The user attached {attachment.name} ({attachment.media_type}), {why}."
    cut = f"\n… cut: the first {_MAX_CHARACTERS:,} of {len(text):,} characters" if len(text) > _MAX_CHARACTERS else ""
    return f"The user attached {attachment.name}:\n\n{fenced(text[:_MAX_CHARACTERS])}{cut}"
