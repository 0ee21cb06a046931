"""Images named in what you typed, as attachments."""

import base64
import re
from pathlib import Path

from sidecar.client.client import Json
from sidecar.commands.errors import EXIT_USAGE, CommandFailed

MAX_IMAGES = 8
MAX_BYTES = 5 * 1024 * 1024
_TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}
#: A path in quotation marks, or one whose spaces are escaped, as a terminal inserts it when you drop a file.
_PATHS = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"|((?:\\.|[^\s'\"\\])+)")


def find_images(text: str, workspace: Path) -> list[Path]:
    found: list[Path] = []
    for quoted, double, bare in _PATHS.findall(text):
        # A bare path may end a sentence.
        name = quoted or double or re.sub(r"\\(.)", r"\1", bare).rstrip("?!.,;:)")
        name = name.removeprefix("@").removeprefix("file://")
        if Path(name).suffix.lower() not in _TYPES or len(name) > 4_096:
            continue
        path = workspace / Path(name).expanduser()
        if path.is_file() and path not in found:
            found.append(path)
    return found[:MAX_IMAGES]


def attach(path: Path) -> Json:
    if path.stat().st_size > MAX_BYTES:
        limit = MAX_BYTES // 1_048_576
        raise CommandFailed(
            f"{path.name} is larger than {limit} MB; nothing was sent. Attach a smaller one.", EXIT_USAGE
        )
    data = base64.b64encode(path.read_bytes()).decode()
    return {"name": path.name, "mediaType": _TYPES[path.suffix.lower()], "data": data}
