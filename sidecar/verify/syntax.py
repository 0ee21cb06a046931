"""Whether what was changed can be read at all. It can find fault, but proves nothing."""

import ast
import json
import warnings
from collections.abc import Callable, Sequence

from sidecar.verify.change import Change
from sidecar.verify.result import Finding, looked
from tools.code.outline import outlined

_SIZE = 1 << 20
#: Files that are read with comments by those whom they are for.
_LENIENT = ("tsconfig", "jsconfig", ".eslintrc", "settings.json", "launch.json", "devcontainer.json")


def syntax(changes: Sequence[Change]) -> Finding | None:
    parsed = [change for change in changes if change.after is not None and _reader(change.path) is not None]
    problems = [problem for change in parsed for problem in _problems(change)]
    return looked("syntax", problems) if parsed else None


def _problems(change: Change) -> list[str]:
    read = _reader(change.path)
    if read is None or change.after is None or len(change.after) > _SIZE:
        return []
    found = read(change.path, change.after)
    if found and change.before is not None and read(change.path, change.before):
        return []  # it could not be read before either
    return found


def _reader(path: str) -> Callable[[str, bytes], list[str]] | None:
    name = path.rpartition("/")[2].lower()
    if name.endswith((".py", ".pyi")):
        return _python
    if name.endswith(".json"):
        return None if any(word in name for word in _LENIENT) else _json
    if name.endswith(".toml"):
        return _toml
    if name.endswith((".js", ".jsx", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".go", ".rs", ".java")):
        return _tree
    return None


def _python(path: str, content: bytes) -> list[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(content, path)
    except SyntaxError as error:
        return [f"{path}:{error.lineno or 1}: syntax error: {error.msg}"]
    except (ValueError, RecursionError, MemoryError) as error:
        return [f"{path}:1: it cannot be parsed: {error}"]
    return []


def _json(path: str, content: bytes) -> list[str]:
    try:
        json.loads(content)
    except json.JSONDecodeError as error:
        return [f"{path}:{error.lineno}: not JSON: {error.msg}"]
    except (ValueError, RecursionError) as error:
        return [f"{path}:1: not JSON: {error}"]
    return []


def _toml(path: str, content: bytes) -> list[str]:
    import tomllib

    try:
        tomllib.loads(content.decode())
    except ValueError as error:
        return [f"{path}: not TOML: {error}"]
    return []


def _tree(path: str, content: bytes) -> list[str]:
    outline = outlined(path, content)
    return [f"{path}:{line}: syntax error" for line in outline.errors[:5]] if outline is not None else []
