"""The tool that gives a literal a name."""

import pytest

from tests.unit.tools.workbench import Workbench

PYTHON = '''\
"""Times, 86400 seconds a day."""

import os


def day(n=86400):
    return n * 86_400 + 86400.0


def week():
    return 7 * 86400  # 86400


match os:
    case 86400: ...
'''


async def test_every_equal_literal_of_the_file_takes_the_name(bench: Workbench) -> None:
    bench.write("a.py", PYTHON)
    outcome = await bench.call("extract_constant", path="a.py", value="86400", name="DAY")
    assert outcome.status == "success", outcome.content
    assert outcome.content.startswith("86400 is now DAY in a.py: 3 places (lines 6, 7, 11).")
    assert bench.read("a.py").decode() == (
        PYTHON.replace("import os\n", "import os\n\nDAY = 86400\n")
        .replace("n=86400", "n=DAY")
        .replace("n * 86_400", "n * DAY")
        .replace("7 * 86400", "7 * DAY")
    )


async def test_only_those_of_a_function_or_of_a_line_if_so_asked(bench: Workbench) -> None:
    bench.write("a.py", PYTHON)
    await bench.call("extract_constant", path="a.py", value="86400", name="DAY", function="week")
    text = bench.read("a.py").decode()
    assert "7 * DAY" in text
    assert "n=86400" in text

    bench.write("b.py", "x = f(3, 'a')\ny = f(3)\n")
    await bench.call("extract_constant", path="b.py", line=2, name="THREE")
    assert bench.read("b.py") == b"THREE = 3\n\nx = f(3, 'a')\ny = f(THREE)\n"


@pytest.mark.parametrize(
    ("path", "before", "args", "after"),
    [
        ("a.py", "A = 1\nx = ['k', {'k': 'k'}]\n__all__ = ['k']\n", {"value": '"k"'},
         "NAME = 'k'\nA = 1\nx = [NAME, {NAME: NAME}]\n__all__ = ['k']\n"),
        ("a.py", "x: Literal['k'] = 'k'\n", {"value": "'k'"}, "NAME = 'k'\n\nx: Literal['k'] = NAME\n"),
        ("a.py", "x = -1 + 1\r\n", {"value": "-1"}, "NAME = -1\r\n\r\nx = NAME + 1\r\n"),
        ("a.py", "NAME = 5\nx = 5\n", {"value": "5"}, "NAME = 5\nx = NAME\n"),
        ("a.ts", "import a from 'k';\nconst x: 'k' = 'k';\nf({ k: 'k', 'k': 1 });\n", {"value": "'k'"},
         "import a from 'k';\n\nconst NAME = 'k';\n\nconst x: 'k' = NAME;\nf({ k: NAME, 'k': 1 });\n"),
        ("a.tsx", "const e = <a b='k'>{'k'}</a>;\n", {"value": "'k'"},
         "const NAME = 'k';\n\nconst e = <a b={NAME}>{NAME}</a>;\n"),
    ],
)  # fmt: skip
async def test_only_expressions_are_replaced(
    bench: Workbench, path: str, before: str, args: dict[str, str], after: str
) -> None:
    bench.write(path, before)
    outcome = await bench.call("extract_constant", path=path, name="NAME", **args)
    assert outcome.status == "success", outcome.content
    assert bench.read(path).decode() == after


@pytest.mark.parametrize(
    ("before", "args", "code"),
    [
        ("x = 1\n", {"value": "2", "name": "N"}, "no_match"),
        ("x = 1\n", {"value": "1", "name": "1N"}, "invalid_name"),
        ("N = 2\nx = 1\n", {"value": "1", "name": "N"}, "name_taken"),
        ("def f(N):\n    return 1\n", {"value": "1", "name": "N"}, "name_taken"),
        ("x = f(1, 2)\n", {"line": 1, "name": "N"}, "ambiguous"),
        ("x = 1\n", {"name": "N"}, "invalid_arguments"),
        ("x = (1\n", {"value": "1", "name": "N"}, "syntax_error"),
    ],
)
async def test_what_is_refused(bench: Workbench, before: str, args: dict[str, object], code: str) -> None:
    bench.write("a.py", before)
    outcome = await bench.call("extract_constant", path="a.py", **args)
    assert outcome.error is not None
    assert outcome.error.code == code
    assert bench.read("a.py").decode() == before
