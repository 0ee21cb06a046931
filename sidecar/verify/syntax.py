"""Whether the changed files still parse. This finds problems, but proves nothing."""

import json
from collections.abc import Callable, Sequence

from sidecar.verify.change import FileVersions
from sidecar.verify.result import CheckResult, static_result
from tools.code.outline import outline_of
from tools.code.source import SourceText
from tools.parsed import parse_json, parse_python, parse_toml

_SIZE = 1 << 20
#: JSON files that may have comments.
_LENIENT = ("tsconfig", "jsconfig", ".eslintrc", "settings.json", "launch.json", "devcontainer.json")


def check_syntax(changes: Sequence[FileVersions]) -> CheckResult | None:
    parsed = [change for change in changes if change.after is not None and _parser_of(change.path) is not None]
    problems = [problem for change in parsed for problem in _problems(change)]
    return static_result("syntax", problems) if parsed else None


def _problems(change: FileVersions) -> list[str]:
    parse = _parser_of(change.path)
    if parse is None or change.after is None or len(change.after) > _SIZE:
        return []
    found = parse(change.path, change.after)
    if found and change.before is not None and parse(change.path, change.before):
        return []  # it did not parse before either
    return found


def _parser_of(path: str) -> Callable[[str, bytes], list[str]] | None:
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
        parse_python(content)
    except SyntaxError as error:
        return [f"{path}:{error.lineno or 1}: syntax error: {error.msg}"]
    except ValueError as error:
        return [f"{path}:1: does not parse: {error}"]
    return []


def _json(path: str, content: bytes) -> list[str]:
    try:
        parse_json(content)
    except json.JSONDecodeError as error:
        return [f"{path}:{error.lineno}: not JSON: {error.msg}"]
    except ValueError as error:
        return [f"{path}:1: not JSON: {error}"]
    return []


def _toml(path: str, content: bytes) -> list[str]:
    try:
        parse_toml(content)
    except ValueError as error:
        return [f"{path}: not TOML: {error}"]
    return []


def _tree(path: str, content: bytes) -> list[str]:
    outline = outline_of(SourceText(path, content))
    return [f"{path}:{line}: syntax error" for line in outline.errors[:5]] if outline is not None else []
