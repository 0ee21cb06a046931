"""Small programs in a workspace, and what they print."""

import subprocess
import sys
from collections.abc import Iterable, Mapping

from tests.support.workbench import Workbench

GREETER = "def greet(name):\n    return f'hello {name}'\n"


def write_all(bench: Workbench, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        bench.write(path, text)


def read_all(bench: Workbench, files: Iterable[str]) -> dict[str, str]:
    return {path: bench.read(path).decode() for path in files}


def printed(bench: Workbench, path: str) -> str:
    """What a program prints; it must not fail."""
    return subprocess.run(
        [sys.executable, "-B", path], cwd=bench.workspace, check=True, capture_output=True, text=True
    ).stdout
