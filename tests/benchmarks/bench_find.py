"""Finding a place in code: tool calls of a scripted agent with ripgrep and reading, and of one with the memory.

The questions are the first sentences of functions' documentation in Python's own library, which is blanked in the
workspace. Both agents read the best file that they haven't read, until they see the function.
"""

import ast
import os
import random
import re
import sqlite3
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from sidecar.memory.answers import answer_search
from sidecar.memory.port import SearchRequest
from sidecar.memory.store import open_store
from sidecar.memory.tokens import STOP_WORDS
from tests.benchmarks.bench_memory import _build
from tests.benchmarks.result import Result
from tools.ripgrep import ripgrep

QUESTIONS = 60
#: An agent that hasn't found it by then gives up.
MOST_CALLS = 15
#: As many as the tool gives.
_MOST_HITS = 50
_PACKAGES = ("email", "asyncio", "logging", "http", "json", "unittest", "concurrent", "urllib", "xml", "importlib")


class Question(NamedTuple):
    text: str
    path: str


async def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        workspace = root / "code"
        questions = _copy_and_ask(workspace)
        _build(root / "index.db", workspace, root)
        store = open_store(root / "index.db", readonly=True)
        plain = [_with_ripgrep(workspace, each) for each in questions]
        asked = [_with_memory(store, workspace, each) for each in questions]
        store.close()
    mean, plain_mean = sum(asked) / len(asked), sum(plain) / len(plain)
    return [
        Result("calls to find a place", mean, "calls", mean / plain_mean, "with ripgrep and reading", most_ratio=0.6),
        Result("places not found", sum(n >= MOST_CALLS for n in asked) / len(asked) * 100, "%"),
    ]


def _copy_and_ask(workspace: Path) -> list[Question]:
    library, found = Path(os.__file__).parent, []
    files = [path for path in library.glob("*.py") if len(path.read_bytes()) < 200_000]
    files += [path for package in _PACKAGES for path in (library / package).rglob("*.py")]
    for path in sorted(files):
        text = path.read_text(encoding="utf-8", errors="replace")
        name = str(path.relative_to(library))
        lines = text.split("\n")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (doc := ast.get_docstring(node)):
                sentence = doc.split("\n\n")[0].replace("\n", " ").split(". ")[0].strip(" .")
                if 5 <= len(sentence.split()) <= 25 and node.name not in sentence:
                    found.append(Question(sentence, name))
                quoted = node.body[0]
                for number in range(quoted.lineno - 1, quoted.end_lineno or quoted.lineno):
                    lines[number] = ""
        target = workspace / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n".join(lines), encoding="utf-8")
    return random.Random(1).sample(found, QUESTIONS)


def _with_ripgrep(workspace: Path, question: Question) -> int:
    """A search for the three longest words, counted as one call, then the files that hold the most of them."""
    words = sorted({word.lower() for word in re.findall(r"[A-Za-z]{3,}", question.text)} - STOP_WORDS, key=len)[-3:]
    files: Counter[str] = Counter()
    for word in words:
        command = [ripgrep(), "--no-config", "--count-matches", "--ignore-case", word, "."]
        listed = subprocess.run(command, cwd=workspace, capture_output=True, text=True, check=False).stdout
        for line in listed.splitlines():
            path, _, count = line.removeprefix("./").rpartition(":")
            files[path] += 1_000 + min(int(count), 999)
    best = [path for path, _ in sorted(files.items(), key=lambda each: (-each[1], each[0]))]
    reads = best.index(question.path) + 1 if question.path in best else MOST_CALLS
    return min(1 + reads, MOST_CALLS)


def _with_memory(store: sqlite3.Connection, workspace: Path, question: Question) -> int:
    """One search, then the files of its hits, the best first."""
    hits, _ = answer_search(store, str(workspace), SearchRequest(question.text, _MOST_HITS))
    best = list(dict.fromkeys(hit.path for hit in hits))
    reads = best.index(question.path) + 1 if question.path in best else MOST_CALLS
    return min(1 + reads, MOST_CALLS)
