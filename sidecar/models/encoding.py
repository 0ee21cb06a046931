"""JSON for requests and replies, tolerant of lone surrogates."""

import json
from typing import Any

from pydantic_core import from_json, to_json


def encode_json(value: object) -> bytes:
    try:
        # Several times faster than the standard library.
        return to_json(value)
    except (ValueError, UnicodeError):
        return fix_surrogates(json.dumps(value, ensure_ascii=False, separators=(",", ":"))).encode()


def decode_json(text: bytes) -> Any:
    """Raise `ValueError`."""
    try:
        return from_json(text)
    except ValueError:
        pass
    try:
        try:
            # It rejects lone surrogates, which some models write.
            return json.loads(text)
        except UnicodeDecodeError:
            return json.loads(text.decode(errors="replace"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def fix_surrogates(text: str) -> str:
    """Join surrogate pairs; replace lone surrogates."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
