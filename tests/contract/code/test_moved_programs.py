"""A moved symbol is found from everywhere, or the move is refused; a program prints the same before and after."""

import pytest

from tests.support.programs import GREETER, printed, read_all, write_all
from tests.support.workbench import Workbench

FOLLOWED = {
    "a lookup by name": {"a.py": GREETER, "main.py": "import a\nprint(getattr(a, 'greet')('x'))\n"},
    "a path in a string": {
        "a.py": GREETER,
        "main.py": "import pkgutil\nprint(pkgutil.resolve_name('a:greet')('x'))\n",
    },
    "a path in the settings": {
        "a.py": GREETER,
        "setup.cfg": "[options]\nhello = a:greet\n",
        "main.py": (
            "import configparser, pkgutil\nc = configparser.ConfigParser()\nc.read('setup.cfg')\n"
            "print(pkgutil.resolve_name(c['options']['hello'])('x'))\n"
        ),
    },
    "a star import": {"a.py": GREETER, "main.py": "from a import *\nprint(greet('x'))\n"},
    "a decorator that registers it": {
        "a.py": "from registry import register\n@register\n" + GREETER,
        "registry.py": "ALL = []\ndef register(f):\n    ALL.append(f)\n    return f\n",
        "main.py": "import a, registry\nprint([each('x') for each in registry.ALL])\n",
    },
}
REFUSED = {
    "it would import what imports its new file": {
        "a.py": "import base\ndef greet(): return base.NAME\n",
        "base.py": "from sub.b import OTHER\nNAME = OTHER\n",
        "sub/b.py": "OTHER = 'x'\n",
        "main.py": "import a\nprint(a.greet())\n",
    },
    "it changes a global": {
        "a.py": "N = 0\ndef greet():\n    global N\n    N += 1\n",
        "main.py": "import a\na.greet()\nprint(a.N)\n",
    },
    "it reads what changes": {
        "a.py": "N = 0\ndef add():\n    global N\n    N += 1\ndef greet(): return N\n",
        "main.py": "import a\na.add()\nprint(a.greet())\n",
    },
    "it knows its module": {"a.py": "def greet(): return __name__\n", "main.py": "import a\nprint(a.greet())\n"},
    "it knows its folder": {
        "a.py": "from pathlib import Path\ndef greet(): return Path(__file__).parent.name\n",
        "main.py": "import a\nprint(a.greet())\n",
    },
    "it is replaced": {
        "a.py": GREETER + "def call(): return greet('x')\n",
        "main.py": "import a\na.greet = str\nprint(a.call())\n",
    },
}


@pytest.mark.parametrize("files", FOLLOWED.values(), ids=FOLLOWED)
async def test_a_move_is_followed(bench: Workbench, files: dict[str, str]) -> None:
    write_all(bench, files)
    before = printed(bench, "main.py")
    outcome = await bench.call("move_symbol", symbol="greet", **{"from": "a.py"}, to="b.py")
    assert outcome.status == "success", outcome.content
    assert "a.py imports it, too: " in outcome.content
    assert "def greet" not in read_all(bench, ["a.py"])["a.py"]
    assert printed(bench, "main.py") == before


@pytest.mark.parametrize("files", REFUSED.values(), ids=REFUSED)
async def test_a_move_that_would_change_the_program_is_refused(bench: Workbench, files: dict[str, str]) -> None:
    write_all(bench, files)
    outcome = await bench.call("move_symbol", symbol="greet", **{"from": "a.py"}, to="sub/b.py")
    assert outcome.error is not None, outcome.content
    assert outcome.error.code in ("not_possible", "would_cycle")
    assert read_all(bench, files) == files


async def test_a_logger_and_a_file_beside_it_may_move(bench: Workbench) -> None:
    files = {
        "a.py": (
            "import logging\nfrom pathlib import Path\n"
            "def greet(): return logging.getLogger(__name__) and Path(__file__).parent\n"
        ),
        "main.py": "import a\nprint(a.greet())\n",
    }
    write_all(bench, files)
    before = printed(bench, "main.py")
    outcome = await bench.call("move_symbol", symbol="greet", **{"from": "a.py"}, to="b.py")
    assert outcome.status == "success", outcome.content
    assert printed(bench, "main.py") == before


async def test_an_export_of_everything_goes_on_with_the_moved_name(bench: Workbench) -> None:
    write_all(
        bench,
        {
            "a.mjs": "export function load() { return 1; }\nexport const other = 2;\n",
            "all.mjs": "export * from './a.mjs';\n",
            "main.mjs": "import { load, other } from './all.mjs';\nconsole.log(load(), other);\n",
        },
    )
    outcome = await bench.call("move_symbol", symbol="load", **{"from": "a.mjs"}, to="b.mjs")
    assert outcome.status == "success", outcome.content
    assert bench.read("all.mjs") == b"export * from './a.mjs';\nexport { load } from './b.mjs';\n"


async def test_a_name_that_a_script_takes_at_run_time_is_not_moved(bench: Workbench) -> None:
    files = {
        "a.mjs": "export function load() { return 1; }\n",
        "main.mjs": "const { load } = await import('./a.mjs');\nconsole.log(load());\n",
    }
    write_all(bench, files)
    outcome = await bench.call("move_symbol", symbol="load", **{"from": "a.mjs"}, to="b.mjs")
    assert outcome.error is not None and "main.mjs:1 takes it by name" in outcome.error.message
    assert read_all(bench, files) == files


async def test_an_import_that_a_string_uses_is_kept(bench: Workbench) -> None:
    files = {"a.py": "import math\nimport cmath\nimport os\nprint(eval('math.pi'), globals()['cmath'].pi)\n"}
    write_all(bench, files)
    before = printed(bench, "a.py")
    outcome = await bench.call("organize_imports")
    assert outcome.status == "success", outcome.content
    assert printed(bench, "a.py") == before
    assert b"import os" not in bench.read("a.py")
