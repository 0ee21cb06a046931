"""The tool that adds a first test: it runs, it passes, and it claims only what is certain."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.tools.workbench import Workbench

MODULE = '''\
def add(a: int, b: int = 2) -> int:
    return a + b


def shout(text):
    """Loud.

    >>> shout("hi")
    'HI!'
    """
    return text.upper() + "!"


def wipe(path: str) -> int:
    import shutil
    shutil.rmtree(path)
    return 1


async def later(n, *, m=1): ...


class Cart:
    def put(self, item): ...

    @property
    def size(self): ...
'''


def run_pytest(workspace: Path, *targets: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *targets],
        cwd=workspace,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


async def test_every_test_that_is_written_passes(bench: Workbench) -> None:
    bench.write("shop.py", MODULE)
    expected = {
        "add": "that it gives an int",
        "shout": "what its docstring shows",
        "wipe": "only its signature",
        "later": "only its signature",
        "Cart": "only that it is a class",
        "Cart.put": "only its signature",
        "Cart.size": "only that it is there",
    }
    for symbol, claim in expected.items():
        outcome = await bench.call("add_test", symbol=symbol)
        assert outcome.status == "success", outcome.content
        assert f"to tests/test_shop.py; it asserts {claim}." in outcome.content
    text = bench.read("tests/test_shop.py").decode()
    assert text.startswith("from shop import add\n") or "from shop import add\n" in text
    assert "assert isinstance(add(1), int)" in text
    assert """assert shout("hi") == 'HI!'""" in text
    assert "wipe(" not in text.replace("signature(wipe)", "").replace("test_wipe_takes_what_it_says()", "")
    assert 'assert list(inspect.signature(wipe).parameters) == ["path"]' in text
    assert "7 passed" in run_pytest(bench.workspace)


async def test_a_call_that_turned_out_badly_is_replaced_by_what_the_signature_says(bench: Workbench) -> None:
    bench.write("a.py", "def parse(line: str) -> int:\n    return int(line)\n")
    await bench.call("add_test", symbol="parse")
    assert b'parse("text")' in bench.read("tests/test_a.py")
    outcome = await bench.call("add_test", symbol="parse", call=False, replace=True)
    assert outcome.status == "success", outcome.content
    assert b'parse("text")' not in bench.read("tests/test_a.py")
    assert "1 passed" in run_pytest(bench.workspace)


async def test_it_goes_where_the_tests_are_and_is_written_as_they_are(bench: Workbench) -> None:
    bench.write("src/pkg/__init__.py", "")
    bench.write("src/pkg/core.py", "def f(a): ...\n")
    bench.write("tests/pkg/test_core.py", "from pkg.core import f\n\n\ndef test_old():\n    assert f\n")
    outcome = await bench.call("add_test", symbol="f")
    assert "to tests/pkg/test_core.py" in outcome.content
    assert bench.read("tests/pkg/test_core.py").startswith(b"from pkg.core import f\nimport inspect\n\n\ndef test_old")

    bench.write("u.py", "def g(a): ...\n")
    bench.write(
        "test_u.py",
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n\n\n"
        "if __name__ == '__main__':\n    unittest.main()\n",
    )
    await bench.call("add_test", symbol="g")
    done = subprocess.run(
        [sys.executable, "test_u.py"], cwd=bench.workspace, capture_output=True, text=True, check=True
    )
    assert "Ran 2 tests" in done.stderr


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
async def test_the_same_with_node(bench: Workbench) -> None:
    bench.write("package.json", '{"type": "module", "scripts": {"test": "node --test"}}')
    bench.write(
        "src/math.js", "export function add(a, b = 1) {\n  return a + b;\n}\nexport class Box {}\nfunction own() {}\n"
    )
    assert (await bench.call("add_test", symbol="add")).status == "success"
    assert (await bench.call("add_test", symbol="Box")).status == "success"
    done = subprocess.run(["node", "--test"], cwd=bench.workspace, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "# pass 2" in done.stdout or "pass 2" in done.stdout

    outcome = await bench.call("add_test", symbol="own")
    assert "is not exported" in outcome.content


async def test_the_same_for_vitest(bench: Workbench) -> None:
    bench.write("package.json", '{"devDependencies": {"vitest": "1"}}')
    bench.write(
        "src/math.ts", "import { z } from './z';\nexport const add = (a: number, b: number): number => a + b;\n"
    )
    outcome = await bench.call("add_test", symbol="add")
    assert "to src/math.test.ts; it asserts that it gives a number." in outcome.content
    assert bench.read("src/math.test.ts").decode() == (
        "import { expect, test } from 'vitest';\nimport { add } from './math';\n\n"
        "test('add gives a number', () => {\n"
        "  // Made-up arguments: say what add gives for which arguments.\n"
        "  expect(typeof add(1, 2)).toBe('number');\n});\n"
    )


@pytest.mark.parametrize(
    ("files", "args", "code"),
    [
        ({"a.py": "x = 1\n"}, {"symbol": "f"}, "no_match"),
        ({"a.py": "def f(): ...\n", "b.py": "def f(): ...\n"}, {"symbol": "f"}, "ambiguous"),
        ({"a.ts": "export function f() {}\n"}, {"symbol": "f"}, "no_tests"),
        ({"a.py": "def f(): ...\n", "tests/test_a.py": "def test_f_takes_what_it_says(): ...\n"}, {"symbol": "f"},
         "already_exists"),
    ],
)  # fmt: skip
async def test_what_is_refused(bench: Workbench, files: dict[str, str], args: dict[str, str], code: str) -> None:
    for path, text in files.items():
        bench.write(path, text)
    outcome = await bench.call("add_test", **args)
    assert outcome.error is not None
    assert outcome.error.code == code
