"""Parses JSON, TOML and Python that anybody may have written, also to do harm."""

import ast
import json
import warnings
from typing import Any

_TOO_DEEP = "it is nested too deeply"


def parse_python(content: bytes) -> ast.Module:
    """Raise `SyntaxError` or `ValueError`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(content)
        except (RecursionError, MemoryError):
            raise ValueError(_TOO_DEEP) from None


def parse_json(text: str | bytes) -> Any:
    """Raise `ValueError`; of a wrong character `JSONDecodeError`."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def parse_toml(content: str | bytes) -> dict[str, Any]:
    """Raise `ValueError`."""
    import tomllib

    try:
        return tomllib.loads(content if isinstance(content, str) else content.decode())
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
