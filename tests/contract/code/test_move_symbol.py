"""The tool that moves a symbol, on real files: the program does the same afterwards."""

import subprocess
import sys

from tests.support.workbench import Workbench


async def test_a_program_does_the_same_after_a_move_as_before(bench: Workbench) -> None:
    bench.write("shop/__init__.py", "")
    bench.write(
        "shop/cart.py",
        "import math\nimport os\n\nRATE = 0.2\n\n\ndef tax(price):\n    return math.ceil(price * 0.2)\n\n\n"
        "def total(prices):\n    return sum(prices) + tax(sum(prices)) + len(os.sep)\n",
    )
    bench.write("main.py", "from shop.cart import tax, total\n\nprint(tax(10), total([1, 2]))\n")
    before = subprocess.run([sys.executable, "main.py"], cwd=bench.workspace, capture_output=True, check=True)

    outcome = await bench.call("move_symbol", symbol="tax", to="shop/taxes.py", **{"from": "shop/cart.py"})

    assert outcome.status == "success", outcome.content
    assert outcome.content.startswith(
        "Moved function tax (shop/cart.py:7) to shop/taxes.py. Imports updated in main.py."
    )
    after = subprocess.run([sys.executable, "main.py"], cwd=bench.workspace, capture_output=True, check=True)
    assert after.stdout == before.stdout
    assert bench.read("shop/taxes.py") == b"import math\n\n\ndef tax(price):\n    return math.ceil(price * 0.2)\n"
    assert bench.read("shop/cart.py").startswith(b"import os\n\nfrom shop.taxes import tax\n\nRATE")


async def test_a_name_that_is_taken_is_refused_and_nothing_is_written(bench: Workbench) -> None:
    bench.write("a.py", "def one(): ...\n")
    bench.write("b.py", "one = 1\n")
    outcome = await bench.call("move_symbol", symbol="one", to="b.py", **{"from": "a.py"})
    assert outcome.error is not None
    assert outcome.error.code == "name_taken"
    assert bench.read("a.py") == b"def one(): ...\n"


async def test_a_protected_place_is_asked_about(bench: Workbench) -> None:
    bench.write("a.py", "def one(): ...\n")
    outcome = await bench.call("move_symbol", symbol="one", to=".git/hooks/b.py", **{"from": "a.py"})
    assert outcome.status != "success"
    assert bench.read("a.py") == b"def one(): ...\n"


async def test_a_commonjs_function_is_not_moved_with_imports_that_its_file_cannot_have(bench: Workbench) -> None:
    bench.write("lib/route.js", "function build(o) { return o; }\nmodule.exports = { build };\n")
    bench.write("main.js", "const { build } = require('./lib/route');\nbuild(1);\n")

    moved = await bench.call("move_symbol", **{"symbol": "build", "from": "lib/route.js", "to": "lib/other.js"})

    assert "uses require or module.exports" in moved.content
    assert not (bench.workspace / "lib/other.js").exists()
