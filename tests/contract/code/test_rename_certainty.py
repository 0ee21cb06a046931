"""A rename follows a name or refuses; it never breaks a program and calls that a success."""

import pytest

from tests.support.programs import GREETER, printed, read_all, write_all
from tests.support.workbench import Workbench

#: Each prints the same before and after the rename.
PROGRAMS = {
    "getattr of a module": {"a.py": GREETER, "main.py": "import a\nprint(getattr(a, 'greet')('x'))\n"},
    "vars and __dict__": {
        "a.py": GREETER,
        "main.py": "import a\nprint(vars(a)['greet']('x'), a.__dict__['greet']('y'))\n",
    },
    "globals": {
        "a.py": GREETER + "def call(): return globals()['greet']('x')\n",
        "main.py": "import a\nprint(a.call())\n",
    },
    "mock.patch": {
        "a.py": GREETER,
        "main.py": (
            "from unittest import mock\nimport a\n"
            "with mock.patch('a.greet', return_value=1):\n    print(a.greet('x'))\n"
        ),
    },
    "mock.patch of a copy": {
        "a.py": GREETER,
        "b.py": "from a import greet\ndef run(): return greet('x')\n",
        "main.py": (
            "from unittest.mock import patch\nimport b\nwith patch('b.greet', lambda n: 1):\n    print(b.run())\n"
        ),
    },
    "patch.object": {
        "a.py": GREETER,
        "main.py": (
            "from unittest import mock\nimport a\nwith mock.patch.object(a, 'greet', str):\n    print(a.greet('x'))\n"
        ),
    },
    "re-exports": {
        "pkg/__init__.py": "from .core import greet\n__all__ = ['greet']\n",
        "pkg/core.py": GREETER,
        "main.py": "import pkg\nfrom pkg import *\nprint(pkg.greet('x'), greet('y'))\n",
    },
    "star re-exports": {
        "pkg/__init__.py": "from .core import *\nfrom . import core\n__all__ = [*core.__all__]\n",
        "pkg/core.py": "__all__ = ['greet']\n" + GREETER,
        "main.py": "from pkg import greet\nprint(greet('x'))\n",
    },
    "a re-export with an alias": {
        "pkg/__init__.py": "from .core import greet as greet\n",
        "pkg/core.py": GREETER,
        "main.py": "import pkg\nprint(pkg.greet('x'))\n",
    },
    "an __all__ that grows": {
        "a.py": "__all__ = []\n" + GREETER + "__all__.append('greet')\n",
        "main.py": "from a import *\nprint(greet('x'))\n",
    },
    "an __all__ with a star import": {
        "pkg/__init__.py": "from .mod import *\nfrom . import mod\n__all__ = mod.__all__ + ['greet']\n",
        "pkg/mod.py": "__all__ = []\n" + GREETER,
        "main.py": "import pkg.mod\nprint(pkg.mod.greet('x'))\n",
    },
    "get of a dictionary of names": {
        "a.py": GREETER + "print(globals().get('greet')('x'), locals()['greet']('y'), vars().get('greet')('z'))\n",
        "main.py": "import a\nprint(a.__dict__.get('greet')('x'))\n",
    },
    "an entry point in setup.py": {
        "a.py": GREETER,
        "setup.py": "SCRIPTS = ['hello=a:greet']\n",
        "main.py": "import pkgutil, setup\nprint(pkgutil.resolve_name(setup.SCRIPTS[0].partition('=')[2])('x'))\n",
    },
    "a reference in a logging configuration": {
        "a.py": GREETER,
        "main.py": (
            "import logging.config\nc = logging.config.BaseConfigurator({'h': 'ext://a.greet'})\n"
            "print(c.config['h']('x'))\n"
        ),
    },
    "code in strings": {
        "a.py": GREETER,
        "main.py": "exec('import a; print(a.greet(1))')\nexec('from a import greet; print(greet(2))')\n",
    },
    "a doctest": {
        "a.py": 'def greet(name):\n    """Say hello.\n\n    >>> greet(1)\n    1\n    """\n    return name\n',
        "main.py": "import a, doctest\nprint(doctest.testmod(a))\n",
    },
    "a shell script": {
        "a.py": GREETER,
        "run.sh": 'python3 -c "import a; print(a.greet(1))"\npython3 -c "from a import greet; print(greet(2))"\n',
        "main.py": "import subprocess\nprint(subprocess.check_output(['sh', 'run.sh']))\n",
    },
    "documents with doctests and directives": {
        "a.py": GREETER,
        "use.rst": (
            ".. currentmodule:: a\n.. autofunction:: greet\n.. automodule:: a\n   :members: greet\n\n"
            ">>> from a import greet\n>>> greet('x')\n'hello x'\n"
        ),
        "main.py": "import doctest\nprint(doctest.testfile('use.rst', module_relative=False))\n",
    },
    "a stub beside the code": {
        "a.py": GREETER,
        "a.pyi": "def greet(name: str) -> str: ...\n",
        "main.py": "from a import greet\nprint(greet('x'))\n",
    },
}


@pytest.mark.parametrize("files", PROGRAMS.values(), ids=PROGRAMS)
async def test_what_can_be_known_is_followed(bench: Workbench, files: dict[str, str]) -> None:
    write_all(bench, files)
    before = printed(bench, "main.py")
    outcome = await bench.call("rename_symbol", symbol="greet", newName="welcome")
    assert outcome.status == "success", outcome.content
    assert not [path for path, text in read_all(bench, files).items() if "greet" in text]
    assert printed(bench, "main.py") == before


async def test_a_parameter_is_renamed_in_all_overloads(bench: Workbench) -> None:
    files = {
        "a.py": (
            "from typing import overload\nclass A:\n    @overload\n    def f(self, size: int): ...\n    @overload\n"
            "    def f(self, size: str): ...\n    def f(self, size): return size\nprint(A().f(size=1))\n"
        )
    }
    write_all(bench, files)
    outcome = await bench.call("rename_symbol", symbol="size", line=4, path="a.py", newName="width")
    assert outcome.status == "success", outcome.content
    assert printed(bench, "a.py") == "1\n"
    assert b"size" not in bench.read("a.py")


PROTOCOL = {
    "ports.py": (
        "from typing import Protocol\nclass Reader(Protocol):\n"
        "    def fetch(self) -> str: ...\n    def close(self): ...\n"
    ),
    "disk.py": "class Disk:\n    def fetch(self): return 'disk'\n    def close(self): ...\n",
    "net.py": (
        "from ports import Reader\nclass Net(Reader):\n    def fetch(self): return 'net'\n    def close(self): ...\n"
    ),
    "main.py": (
        "from disk import Disk\nfrom net import Net\nfrom ports import Reader\n"
        "def show(reader: Reader): print(reader.fetch())\nshow(Disk())\nshow(Net())\n"
    ),
}


@pytest.mark.parametrize("symbol", ["Reader.fetch", "Disk.fetch", "Net.fetch"])
@pytest.mark.parametrize("new", ["load_text", None], ids=["name", "qualified"])
async def test_a_protocol_s_method_is_renamed_with_its_implementers(
    bench: Workbench, symbol: str, new: str | None
) -> None:
    write_all(bench, PROTOCOL)
    newName = new or f"{symbol.partition('.')[0]}.load_text"
    outcome = await bench.call("rename_symbol", symbol=symbol, newName=newName)
    assert outcome.status == "success", outcome.content
    assert read_all(bench, PROTOCOL) == {path: text.replace("fetch", "load_text") for path, text in PROTOCOL.items()}
    assert printed(bench, "main.py") == "disk\nnet\n"


async def test_an_abstract_method_is_renamed_with_its_implementers(bench: Workbench) -> None:
    files = {
        "main.py": (
            "from abc import ABC, abstractmethod\nclass Shape(ABC):\n    @abstractmethod\n    def area(self): ...\n"
            "class Square(Shape):\n    def area(self): return 4\nshapes: list[Shape] = [Square()]\n"
            "def total(shape: Shape): return shape.area()\nprint(total(Square()))\n"
        )
    }
    write_all(bench, files)
    outcome = await bench.call("rename_symbol", symbol="Shape.area", newName="Shape.surface")
    assert outcome.status == "success", outcome.content
    assert printed(bench, "main.py") == "4\n"


async def test_a_power_is_no_keyword_that_is_spread(bench: Workbench) -> None:
    bench.write("a.py", "def draw(width): return width\nprint(draw(2**3))  # draw(2 ** 3)\n")
    outcome = await bench.call("rename_symbol", symbol="width", newName="breadth")
    assert outcome.status == "success", outcome.content
    assert printed(bench, "a.py") == "8\n"


async def test_bases_of_one_class_are_renamed_together(bench: Workbench) -> None:
    files = {
        "a.py": (
            "class A:\n    def greet(self): return 1\nclass M:\n    def greet(self): return super().greet() + 1\n"
            "class B(M, A): pass\nclass Other:\n    def greet(self): return 3\nprint(B().greet(), Other().greet())\n"
        )
    }
    write_all(bench, files)
    outcome = await bench.call("rename_symbol", symbol="A.greet", newName="welcome")
    assert outcome.status == "success", outcome.content
    assert printed(bench, "a.py") == "2 3\n"
    assert bench.read("a.py").count(b"greet") == 2


async def test_a_member_of_an_enum_is_renamed_where_its_name_is_looked_up(bench: Workbench) -> None:
    files = {
        "a.py": "from enum import Enum\nclass Hue(Enum):\n    RED = 1\nprint(Hue['RED'].value, {'RED': 2}['RED'])\n"
    }
    write_all(bench, files)
    outcome = await bench.call("rename_symbol", symbol="Hue.RED", newName="CRIMSON")
    assert outcome.status == "success", outcome.content
    assert printed(bench, "a.py") == "1 2\n"


async def test_scripts_are_followed_through_namespaces_keys_and_mocks(bench: Workbench) -> None:
    files = {
        "a.cjs": "function greet() { return 1; }\nmodule.exports = { greet };\n",
        "b.mjs": "export * as space from './c.mjs';\n",
        "c.mjs": "import all, { greet } from './a.cjs';\nexport { greet };\nexport const again = all.greet;\n",
        "main.mjs": "import * as b from './b.mjs';\nb.space.greet(b.space['greet'](), b.space.again());\n",
        "a.test.js": "jest.mock('./a.cjs', () => ({ greet: jest.fn(), other: 1 }));\n",
        "d.js": "exports.greet = () => 2;\n",
        "e.js": "const { greet } = require('./d');\ngreet();\n",
    }
    write_all(bench, files)
    outcome = await bench.call("rename_symbol", symbol="greet", path="a.cjs", newName="welcome")
    assert outcome.status == "success", outcome.content
    kept = ("d.js", "e.js")
    assert read_all(bench, files) == {
        path: text if path in kept else text.replace("greet", "welcome") for path, text in files.items()
    }


async def test_a_method_with_a_name_of_its_own_is_followed_though_the_type_is_unknown(bench: Workbench) -> None:
    bench.write(
        "a.py", "class Cart:\n    def sum_up(self): return 1\ndef f(cart): return cart.sum_up()\nprint(f(Cart()))\n"
    )
    outcome = await bench.call("rename_symbol", symbol="sum_up", newName="add_up")
    assert outcome.status == "success", outcome.content
    assert printed(bench, "a.py") == "1\n"


async def test_entry_points_and_documents_follow_and_plain_words_are_listed(bench: Workbench) -> None:
    bench.write("pyproject.toml", '[project.scripts]\nshop = "shop.cli:main"\nother = "else.cli:main"\n')
    bench.write("shop/__init__.py", "")
    bench.write("shop/cli.py", 'def main():\n    """Run main."""\n')
    bench.write("README.md", "Call `main()`, or shop.cli.main, not the main thing.\n\nThe maintainer.\n")
    outcome = await bench.call("rename_symbol", symbol="main", newName="start")
    assert outcome.status == "success", outcome.content
    assert bench.read("pyproject.toml") == b'[project.scripts]\nshop = "shop.cli:start"\nother = "else.cli:main"\n'
    assert bench.read("README.md").startswith(b"Call `start()`, or shop.cli.start, not the main thing.\n")
    assert "2 of them in documents." in outcome.content
    assert "left alone: README.md:1, pyproject.toml:3, shop/cli.py:2." in outcome.content


async def test_documents_follow_only_where_they_surely_mean_the_symbol(bench: Workbench) -> None:
    bench.write("shop/__init__.py", "from shop.a import greet\n__all__ = ['greet']\n")
    bench.write("shop/a.py", "def greet(name): ...\nclass Bot:\n    def greet(self): ...\n")
    text = "Use `shop.greet`, `Bot.greet`, `other.greet` or `greet`.\n\n```python\ngreet('x')\na.greet('y')\n```\n"
    bench.write("docs/guide.md", text)
    outcome = await bench.call("rename_symbol", symbol="greet", newName="welcome", path="shop/a.py", line=1)
    assert outcome.status == "success", outcome.content
    # A method has the same name, so a bare one may mean either.
    assert bench.read("docs/guide.md").decode() == text.replace("shop.greet", "shop.welcome").replace(
        "a.greet", "a.welcome"
    )
    assert "docs/guide.md:1, docs/guide.md:4" in outcome.content


async def test_documents_keep_a_name_under_which_the_symbol_is_still_exported(bench: Workbench) -> None:
    bench.write("shop/__init__.py", "from shop import a\ngreet = a.greet\n")
    bench.write("shop/a.py", "def greet(name): ...\n")
    bench.write("README.md", "`shop.greet` is shop.a.greet; call `greet`.\n")
    assert (await bench.call("rename_symbol", symbol="greet", newName="welcome", path="shop/a.py")).status == "success"
    assert bench.read("README.md") == b"`shop.greet` is shop.a.welcome; call `greet`.\n"


async def test_typescript_declarations_and_re_exports_follow(bench: Workbench) -> None:
    files = {
        "lib/a.js": "export function greet(name) { return name; }\n",
        "lib/a.d.ts": "export declare function greet(name: string): string;\n",
        "lib/index.ts": "export { greet } from './a';\n",
        "app.ts": "import { greet } from './lib/index';\nimport * as lib from './lib';\ngreet(lib.greet('x'));\n",
        "app.test.ts": "import * as lib from './lib/a';\nvi.spyOn(lib, 'greet');\n",
    }
    write_all(bench, files)
    outcome = await bench.call("rename_symbol", symbol="greet", newName="welcome")
    assert outcome.status == "success", outcome.content
    assert read_all(bench, files) == {path: text.replace("greet", "welcome") for path, text in files.items()}


async def test_another_owner_is_no_new_name(bench: Workbench) -> None:
    bench.write("a.py", "class Cart:\n    def total(self): ...\n")
    outcome = await bench.call("rename_symbol", symbol="Cart.total", newName="Order.total_of")
    assert outcome.error is not None
    assert outcome.error.code == "invalid_name"
