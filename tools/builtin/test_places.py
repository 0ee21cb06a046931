"""Where the tests of a source file belong, and in which framework they are written there."""

import json
import posixpath
import re
from collections.abc import Collection, Mapping
from typing import Any

from tools.code.test_skeletons import PythonFramework, ScriptFramework
from tools.errors import ToolError
from tools.host import Host

_SIZE = 1 << 20


def is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return bool(
        re.match(r"(test_.*|.*_test|conftest)\.pyi?$", name)
        or re.search(r"\.(test|spec)\.[mc]?[jt]sx?$", name)
        or re.search(r"(^|/)(tests?|__tests__|spec)/", path)
    )


def python_place(source: str, paths: Collection[str]) -> str:
    """The file that tests this module already, or where the others are, or `tests/`."""
    name = f"test_{posixpath.basename(source)}"
    found = sorted(
        (path for path in paths if posixpath.basename(path) == name), key=lambda path: (path.count("/"), path)
    )
    if found:
        return found[0]
    beside = posixpath.dirname(source)
    siblings = [
        path for path in paths if posixpath.dirname(path) == beside and re.match(r"test_", posixpath.basename(path))
    ]
    if siblings:
        return posixpath.join(beside, name)
    for folder in ("tests/unit", "tests", "test"):
        if any(re.match(rf"{folder}/test_[^/]*\.py$", path) for path in paths):
            return f"{folder}/{name}"
    return f"tests/{name}"


async def python_framework(place: str, paths: Collection[str], host: Host) -> PythonFramework:
    """unittest only where the tests that are there are."""
    there = [place] if place in paths else [path for path in sorted(paths) if re.search(r"(^|/)test_[^/]*\.py$", path)]
    texts = [await host.read(path, _SIZE) for path in there[:20]]
    plain = any(b"pytest" in text or re.search(rb"^(async )?def test_", text, re.MULTILINE) for text in texts)
    return "unittest" if any(b"unittest.TestCase" in text for text in texts) and not plain else "pytest"


def script_place(source: str, paths: Collection[str]) -> str:
    stem, suffix = posixpath.splitext(source)
    base = posixpath.basename(stem)
    pattern = re.compile(rf"(^|/){re.escape(base)}\.(test|spec)\.[mc]?[jt]sx?$")
    if found := sorted(path for path in paths if pattern.search(path)):
        return found[0]
    others = [path for path in paths if re.search(r"\.(test|spec)\.[mc]?[jt]sx?$", path)]
    word = "spec" if others and all(".spec." in path for path in others) else "test"
    name = f"{base}.{word}{suffix}"
    for folder in ("tests", "test"):
        if others and all(path.startswith(f"{folder}/") for path in others):
            return f"{folder}/{name}"
    if others and all("/__tests__/" in f"/{path}" for path in others):
        return posixpath.join(posixpath.dirname(source), "__tests__", name)
    return posixpath.join(posixpath.dirname(source), name)


async def script_framework(source: str, host: Host) -> ScriptFramework:
    package = await _package(source, host)
    needs = {**_mapping(package.get("devDependencies")), **_mapping(package.get("dependencies"))}
    script = str(_mapping(package.get("scripts")).get("test", ""))
    if "vitest" in needs or "vitest" in script:
        return "vitest"
    if "jest" in needs or "ts-jest" in needs or re.search(r"\bjest\b", script):
        return "jest"
    if "--test" in script or source.endswith((".js", ".mjs", ".cjs")):
        return "node"
    raise ToolError(
        "package.json names no test framework that is known here (vitest, jest, node --test). Install one, for example "
        "vitest, and ask again.",
        code="no_tests",
    )


async def _package(source: str, host: Host) -> Mapping[str, Any]:
    folder = posixpath.dirname(source)
    while True:
        try:
            found = json.loads(await host.read(posixpath.join(folder, "package.json"), _SIZE))
        except ToolError:
            pass
        except ValueError:
            return {}
        else:
            return _mapping(found)
        if folder in ("", "/"):
            return {}
        folder = posixpath.dirname(folder)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
