"""A rename follows a name or refuses; it never breaks a program and calls that a success."""

import subprocess
import sys
from collections.abc import Mapping

import pytest

from tests.support.workbench import Workbench


def _written(bench: Workbench, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        bench.write(path, text)


def _contents(bench: Workbench, files: Mapping[str, str]) -> dict[str, str]:
    return {path: bench.read(path).decode() for path in files}


def _prints(bench: Workbench, path: str) -> str:
    """What a program prints; it must not fail."""
    return subprocess.run(
        [sys.executable, "-B", path], cwd=bench.workspace, check=True, capture_output=True, text=True
    ).stdout


GREETER = "def greet(name):\n    return f'hello {name}'\n"
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
    _written(bench, files)
    before = _prints(bench, "main.py")
    outcome = await bench.call("rename_symbol", symbol="greet", newName="welcome")
    assert outcome.status == "success", outcome.content
    assert not [path for path, text in _contents(bench, files).items() if "greet" in text]
    assert _prints(bench, "main.py") == before


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
    _written(bench, PROTOCOL)
    newName = new or f"{symbol.partition('.')[0]}.load_text"
    outcome = await bench.call("rename_symbol", symbol=symbol, newName=newName)
    assert outcome.status == "success", outcome.content
    assert _contents(bench, PROTOCOL) == {path: text.replace("fetch", "load_text") for path, text in PROTOCOL.items()}
    assert _prints(bench, "main.py") == "disk\nnet\n"


async def test_an_abstract_method_is_renamed_with_its_implementers(bench: Workbench) -> None:
    files = {
        "main.py": (
            "from abc import ABC, abstractmethod\nclass Shape(ABC):\n    @abstractmethod\n    def area(self): ...\n"
            "class Square(Shape):\n    def area(self): return 4\nshapes: list[Shape] = [Square()]\n"
            "def total(shape: Shape): return shape.area()\nprint(total(Square()))\n"
        )
    }
    _written(bench, files)
    outcome = await bench.call("rename_symbol", symbol="Shape.area", newName="Shape.surface")
    assert outcome.status == "success", outcome.content
    assert _prints(bench, "main.py") == "4\n"


#: A program that may break, and what a refusal names.
DOUBTS: dict[str, tuple[str, dict[str, str], str]] = {
    "an object of unknown type": (
        "Cart.total",
        {
            "a.py": (
                "class Cart:\n    def total(self): return 1\ndef show(cart): return cart.total()\nprint(show(Cart()))\n"
            )
        },
        "a.py:3",
    ),
    "a module that is loaded at run time": (
        "greet",
        {
            "a.py": GREETER,
            "b.py": (
                "import importlib\nname = 'a'\nmodule = importlib.import_module(name)\n"
                "print(getattr(module, 'greet')('x'))\n"
            ),
        },
        "b.py:4",
    ),
    "a name that is built at run time": (
        "do_list",
        {
            "a.py": (
                "import sys\ndef do_list(): return 1\nword = 'list'\n"
                "print(getattr(sys.modules[__name__], 'do_' + word)())\n"
            ),
            "b.py": "import a\ndef run(word): return getattr(a, f'do_{word}')()\n",
        },
        "b.py:2",
    ),
    "a name in a variable": (
        "greet",
        {"a.py": GREETER, "b.py": "import a\nN = 'greet'\nprint(getattr(a, N)('x'))\n"},
        "b.py:2",
    ),
    "a path that is built at run time": (
        "greet",
        {"a.py": GREETER, "b.py": "from unittest.mock import patch\nM = 'a'\nprint(patch(f'{M}.greet'))\n"},
        "b.py:3",
    ),
    "a keyword that replaces it": (
        "greet",
        {"a.py": GREETER, "b.py": "from unittest.mock import patch\nprint(patch.multiple('a', greet=lambda: 2))\n"},
        "b.py:2",
    ),
    "a module that is loaded in place": (
        "greet",
        {"a.py": GREETER, "b.py": "import importlib\nprint(importlib.import_module('a').greet('x'))\n"},
        "b.py:2",
    ),
    "a text that is run": ("greet", {"a.py": f"{GREETER}print(eval(\"greet('x')\"))\n"}, "a.py:"),
    "a field of a format": (
        "Person.age",
        {"a.py": "class Person:\n    age = 3\nprint('{0.age} years'.format(Person()))\n"},
        "a.py:3",
    ),
    "a method that overrides Python's own": (
        "Job.run",
        {"a.py": "import threading\nclass Job(threading.Thread):\n    def run(self): print(1)\nJob().start()\n"},
        "threading.Thread",
    ),
    "a method of a framework's class": (
        "Home.get",
        {"a.py": "from django.views import View\nclass Home(View):\n    def get(self, request): ...\n"},
        "django.views.View",
    ),
    "a module that gets its attributes at run time": (
        "greet",
        {
            "pkg/__init__.py": (
                "import importlib\ndef __getattr__(name):\n"
                "    return getattr(importlib.import_module('pkg.mod'), name)\n"
            ),
            "pkg/mod.py": GREETER,
            "b.py": "import pkg\nprint(pkg.greet('x'))\n",
        },
        "b.py:2",
    ),
    "an import from such a module": (
        "greet",
        {
            "pkg/__init__.py": "from .lazy import attach\n__getattr__ = attach({'hello': 'mod'})\n",
            "pkg/lazy.py": (
                "import importlib\ndef attach(names):\n    def find(name):\n"
                "        return getattr(importlib.import_module('pkg.mod'), name)\n    return find\n"
            ),
            "pkg/mod.py": GREETER,
            "b.py": "from pkg import greet\nprint(greet('x'))\n",
        },
        "b.py:1",
    ),
    "a path into such a module": (
        "greet",
        {
            "pkg/__init__.py": "from . import mod\nglobals().update(vars(mod))\n",
            "pkg/mod.py": GREETER,
            "b.py": "import pkgutil\nprint(pkgutil.resolve_name('pkg.greet')('x'))\n",
        },
        "b.py:2",
    ),
    "a table of lazy exports": (
        "greet",
        {
            "pkg/__init__.py": (
                "from importlib import import_module\n_LAZY = {'greet': ('.mod', __name__)}\n"
                "def __getattr__(name):\n    return getattr(import_module(*_LAZY[name]), name)\n"
            ),
            "pkg/mod.py": GREETER,
        },
        "pkg/__init__.py:2",
    ),
    "a module that is loaded into a variable": (
        "greet",
        {"a.py": GREETER, "b.py": "import importlib\nm = importlib.import_module('a')\nprint(m.greet('x'))\n"},
        "b.py:3",
    ),
    "names for globals": (
        "greet",
        {"a.py": GREETER + "for name in ['greet']:\n    print(globals()[name]('x'))\n"},
        "a.py:3",
    ),
    "a module and a name apart": (
        "greet",
        {"a.py": GREETER, "b.py": "HANDLER = ('a', 'greet')\n", "c.json": '{"module": "a", "function": "greet"}\n'},
        "c.json:1",
    ),
    "a name that a decorator registers": (
        "greet",
        {
            "a.py": "R = {}\ndef register(f):\n    R[f.__name__] = f\n    return f\n@register\n" + GREETER,
            "b.py": "import a\nprint(a.R['greet']('x'))\n",
        },
        "b.py:2",
    ),
    "a class that delegates": (
        "A.greet",
        {
            "a.py": (
                "class A:\n    def greet(self): return 1\nclass B:\n    def __getattr__(self, name):\n"
                "        return getattr(A(), name)\nprint(B().greet())\n"
            )
        },
        "a.py:6",
    ),
    "a field as a key": (
        "A.size",
        {
            "a.py": (
                "from dataclasses import asdict, dataclass\n@dataclass\nclass A:\n    size: int = 1\n"
                "print(asdict(A())['size'])\n"
            )
        },
        "a.py:5",
    ),
    "a special method": ("Bag.__len__", {"a.py": "class Bag:\n    def __len__(self): return 1\n"}, "__len__"),
    "a fixture": (
        "shop",
        {
            "conftest.py": "import pytest\n@pytest.fixture\ndef shop(): return 1\n",
            "test_a.py": "def test_a(shop): assert shop\n",
        },
        "test_a.py:1",
    ),
    "a template": (
        "greet",
        {"a.py": GREETER, "page.html": "<p>{{ greet('x') }}</p>\n"},
        "page.html:1",
    ),
    "a name that is built for globals()": (
        "handle_a",
        {"a.py": "def handle_a(): return 1\nprint(globals()['handle_' + 'a']())\n"},
        "a.py:2 looks up a name that it builds at run time",
    ),
    "keywords that are spread": (
        "width",
        {"a.py": "def draw(size, width=1): return size * width\noptions = {'width': 3}\ndraw(2, **options)\n"},
        "a.py:3 passes draw keywords that only a run knows",
    ),
    "a key of a whole module": (
        "load",
        {
            "a.js": "function load() {}\nmodule.exports = { load };\n",
            "b.js": "const lib = require('./a');\nfor (const each of ['load']) lib[each]();\n",
        },
        "b.js:2 hands on all of a.js, with lib",
    ),
    "a module that is handed on": (
        "load",
        {
            "a/a.js": "function load() {}\nmodule.exports = { load };\n",
            "a/index.js": "module.exports = Object.assign({}, require('./a'));\n",
            "b.js": "const { load } = require('./a');\nload();\n",
        },
        "b.js:1 takes load from a/index.js, which binds it only at run time",
    ),
}


async def test_bases_of_one_class_are_renamed_together(bench: Workbench) -> None:
    files = {
        "a.py": (
            "class A:\n    def greet(self): return 1\nclass M:\n    def greet(self): return super().greet() + 1\n"
            "class B(M, A): pass\nclass Other:\n    def greet(self): return 3\nprint(B().greet(), Other().greet())\n"
        )
    }
    _written(bench, files)
    outcome = await bench.call("rename_symbol", symbol="A.greet", newName="welcome")
    assert outcome.status == "success", outcome.content
    assert _prints(bench, "a.py") == "2 3\n"
    assert bench.read("a.py").count(b"greet") == 2


async def test_a_member_of_an_enum_is_renamed_where_its_name_is_looked_up(bench: Workbench) -> None:
    files = {
        "a.py": "from enum import Enum\nclass Hue(Enum):\n    RED = 1\nprint(Hue['RED'].value, {'RED': 2}['RED'])\n"
    }
    _written(bench, files)
    outcome = await bench.call("rename_symbol", symbol="Hue.RED", newName="CRIMSON")
    assert outcome.status == "success", outcome.content
    assert _prints(bench, "a.py") == "1 2\n"


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
    _written(bench, files)
    outcome = await bench.call("rename_symbol", symbol="greet", path="a.cjs", newName="welcome")
    assert outcome.status == "success", outcome.content
    kept = ("d.js", "e.js")
    assert _contents(bench, files) == {
        path: text if path in kept else text.replace("greet", "welcome") for path, text in files.items()
    }


@pytest.mark.parametrize(("symbol", "files", "named"), DOUBTS.values(), ids=DOUBTS)
async def test_what_can_t_be_known_is_listed_and_nothing_is_renamed(
    bench: Workbench, symbol: str, files: dict[str, str], named: str
) -> None:
    _written(bench, files)
    outcome = await bench.call("rename_symbol", symbol=symbol, newName="other_name")
    assert outcome.error is not None, outcome.content
    assert outcome.error.code == "uncertain"
    assert named in outcome.error.message
    assert _contents(bench, files) == files
    left = await bench.call("rename_symbol", symbol=symbol, newName="other_name", uncertain="leave")
    assert left.status == "success"
    assert named in left.content


async def test_the_uncertain_places_are_renamed_on_request(bench: Workbench) -> None:
    _, files, _ = DOUBTS["an object of unknown type"]
    _written(bench, files)
    await bench.call("rename_symbol", symbol="Cart.total", newName="Cart.amount", uncertain="rename")
    assert _prints(bench, "a.py") == "1\n"


async def test_a_method_with_a_name_of_its_own_is_followed_though_the_type_is_unknown(bench: Workbench) -> None:
    bench.write(
        "a.py", "class Cart:\n    def sum_up(self): return 1\ndef f(cart): return cart.sum_up()\nprint(f(Cart()))\n"
    )
    outcome = await bench.call("rename_symbol", symbol="sum_up", newName="add_up")
    assert outcome.status == "success", outcome.content
    assert _prints(bench, "a.py") == "1\n"


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
    _written(bench, files)
    outcome = await bench.call("rename_symbol", symbol="greet", newName="welcome")
    assert outcome.status == "success", outcome.content
    assert _contents(bench, files) == {path: text.replace("greet", "welcome") for path, text in files.items()}


async def test_another_owner_is_no_new_name(bench: Workbench) -> None:
    bench.write("a.py", "class Cart:\n    def total(self): ...\n")
    outcome = await bench.call("rename_symbol", symbol="Cart.total", newName="Order.total_of")
    assert outcome.error is not None
    assert outcome.error.code == "invalid_name"
