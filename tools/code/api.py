"""What a project offers to those who import it: its public functions and classes, with their docs' first words."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from tools.code.definitions import Definition, definitions
from tools.code.files import is_test
from tools.code.folders import first_sentence
from tools.code.outline import outlined
from tools.code.source import PYTHON, SCRIPT, Source

_HIDDEN = re.compile(
    r"(^|/)(_[^/]*|scripts?|examples?|docs?|benchmarks?|packaging|setup\.py|conftest\.py)(/|$)|\.(config|d)\."
)
_MOST = 40


class Offered(NamedTuple):
    name: str
    signature: str
    path: str
    said: str


def is_public(path: str) -> bool:
    name = path.rpartition("/")[2]
    return not is_test(path) and (name == "__init__.py" or not _HIDDEN.search(path))


def offered(sources: Iterable[Source]) -> tuple[list[Offered], int]:
    """What is public, within the limit, and how many more there are."""
    found: list[Offered] = []
    for source in sources:
        outline = outlined(source.path, source.content) if source.kind in PYTHON | SCRIPT else None
        for symbol in outline.symbols if outline else []:
            if symbol.parent or symbol.name.startswith("_"):
                continue
            one = next((each for each in definitions(source, symbol.name) if each.line == symbol.line), None)
            if one is not None and _is_exported(one, source):
                found.append(Offered(symbol.name, _short(one), source.path, first_sentence(one.doc) if one.doc else ""))
    return found[:_MOST], max(0, len(found) - _MOST)


def _is_exported(one: Definition, source: Source) -> bool:
    if source.kind in PYTHON:
        return one.name != "main"
    line = source.line(one.line)
    return (
        line.startswith("export")
        or re.search(rb"export\s*\{[^}]*\b" + one.name.encode() + rb"\b", source.content) is not None
    )


def _short(one: Definition) -> str:
    line = one.signature.splitlines()[-1]
    line = re.sub(r"^(?:export\s+|default\s+|async\s+|def\s+|function\s+|class\s+|const\s+)+", "", line)
    return line if len(line) <= 70 else f"{one.name}(…)"
