"""What the person attached: pictures that every model can look at, and text. Of anything else it is said that it is
there: a picture of a kind that a provider does not know would be refused, again with every turn."""

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence

from sidecar.models.port import Image
from sidecar.wire.tasks import Attachment
from sidecar.work.context import fenced

_ATTACHED = 20_000
#: How each begins. Who attaches a picture may be wrong about its kind, and providers look.
_BEGINNINGS = {
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
        kind = _picture(content, each.media_type)
        if content is not None and kind is not None:
            images.append(Image(media_type=kind, data=b64encode(content).decode()))
        else:
            texts.append(_text(each, content))
    return texts, images


def _content(data: str) -> bytes | None:
    # As it stands in a page: data:image/png;base64,…
    encoded = data.partition(",")[2] if data.startswith("data:") else data
    try:
        return b64decode("".join(encoded.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def _picture(content: bytes | None, media_type: str) -> str | None:
    if not content:
        return None
    found = next((kind for kind, beginning in _BEGINNINGS.items() if re.match(beginning, content, re.S)), None)
    return found or (media_type if media_type in _BEGINNINGS else None)


def _text(attachment: Attachment, content: bytes | None) -> str:
    try:
        text = (content or b"").decode("utf-8")
    except ValueError:
        text = ""
    if not text:
        why = "which is empty" if content == b"" else "which cannot be shown to you"
        return f"The person attached {attachment.name} ({attachment.media_type}), {why}."
    cut = f"\n… cut: the first {_ATTACHED:,} of {len(text):,} characters" if len(text) > _ATTACHED else ""
    return f"The person attached {attachment.name}:\n\n{fenced(text[:_ATTACHED])}{cut}"
