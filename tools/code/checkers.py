"""Type checkers and linters that a project may bring: one table for `get_diagnostics` and for verification."""

from typing import NamedTuple

from tools.errors import ToolError
from tools.host import Host
from tools.text_files import exists

_SETTINGS_BYTES = 1 << 20
_PYTHON_FOLDERS = (".venv/bin", "venv/bin")
_NODE_FOLDERS = ("node_modules/.bin",)

PYTHON = (".py", ".pyi")
TYPESCRIPT = (".ts", ".tsx", ".mts", ".cts")


class Checker(NamedTuple):
    name: str
    suffixes: tuple[str, ...]
    #: Files that configure it, each with text that it must contain; one of them is enough.
    settings: tuple[tuple[str, bytes], ...]
    #: Arguments for output with one finding a line, as people read it.
    lines: tuple[str, ...]
    #: Arguments for output with severity and column of each finding.
    report: tuple[str, ...]
    #: Checks types: if it passes, that proves something. A linter can only find problems.
    checks_types: bool
    #: Takes the files to check as arguments; otherwise it checks the whole project.
    by_file: bool = True
    node: bool = False

    @property
    def kind(self) -> str:
        return "types" if self.checks_types else "lint"


RUFF = Checker(
    "ruff",
    PYTHON,
    (("ruff.toml", b""), (".ruff.toml", b""), ("pyproject.toml", b"[tool.ruff")),
    ("check", "--no-cache", "--quiet", "--output-format=concise"),
    ("check", "--no-cache", "--quiet", "--output-format=json", "--exit-zero", "--"),
    checks_types=False,
)
MYPY = Checker(
    "mypy",
    PYTHON,
    (("mypy.ini", b""), (".mypy.ini", b""), ("pyproject.toml", b"[tool.mypy"), ("setup.cfg", b"[mypy")),
    ("--no-error-summary", "--no-pretty"),
    ("--no-error-summary", "--no-pretty", "--show-column-numbers", "--no-color-output", "--"),
    checks_types=True,
)
PYRIGHT = Checker(
    "pyright",
    PYTHON,
    (("pyrightconfig.json", b""), ("pyproject.toml", b"[tool.pyright")),
    (),
    ("--outputjson",),
    checks_types=True,
)
TY = Checker(
    "ty",
    PYTHON,
    (("ty.toml", b""), ("pyproject.toml", b"[tool.ty")),
    ("check", "--output-format=concise", "--color=never", "--"),
    ("check", "--output-format=concise", "--color=never", "--"),
    checks_types=True,
)
TSC = Checker(
    "tsc",
    TYPESCRIPT,
    (("tsconfig.json", b""),),
    ("--noEmit", "--pretty", "false"),
    ("--noEmit", "--pretty", "false"),
    checks_types=True,
    by_file=False,
    node=True,
)
ESLINT = Checker(
    "eslint",
    (*TYPESCRIPT, ".js", ".jsx", ".mjs", ".cjs"),
    (("eslint.config.js", b""), ("eslint.config.mjs", b""), (".eslintrc.json", b""), (".eslintrc.js", b"")),
    ("--format=stylish", "--no-color"),
    ("--format=json", "--"),
    checks_types=False,
    node=True,
)


async def is_configured(checker: Checker, host: Host) -> bool:
    for name, text in checker.settings:
        try:
            if text in await host.read(name, _SETTINGS_BYTES):
                return True
        except ToolError:
            continue
    return False


async def find_program(checker: Checker, host: Host) -> str | None:
    """The project's own, as a path in the workspace; else its name, to be looked up in PATH. Node programs aren't."""
    for folder in _NODE_FOLDERS if checker.node else _PYTHON_FOLDERS:
        if await exists(host, path := f"{folder}/{checker.name}"):
            return path
    return None if checker.node else checker.name
