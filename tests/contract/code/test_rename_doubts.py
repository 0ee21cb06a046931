"""Where a rename can't be sure, it lists the places and changes nothing."""

import pytest

from tests.support.programs import GREETER, printed, read_all, write_all
from tests.support.workbench import Workbench

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
    "keywords that are spread over lines": (
        "width",
        {
            "a.py": (
                "def draw(size, width=1): return size * width\ndef main(options):\n    draw(\n"
                "        len('ab'),\n        **options,\n    )\nmain({'width': 3})\n"
            )
        },
        "a.py:3 passes draw keywords that only a run knows",
    ),
    "keywords of a constructor that are spread": (
        "width",
        {
            "a.py": (
                "class Box:\n    def __init__(self, width): self.size = width\nclass Crate(Box): pass\n"
                "Crate(**{'width': 3})\n"
            )
        },
        "a.py:4 passes Crate keywords that only a run knows",
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
    "a singleton that is pickled by its name": (
        "ONE",
        {
            "a.py": "class One:\n    def __reduce__(self): return 'ONE'\nONE = One()\n",
            "b.py": "import a, pickle\nprint(pickle.loads(pickle.dumps(a.ONE)) is a.ONE)\n",
        },
        "a.py:2 holds its name",
    ),
    "a class in a registry": (
        "Big",
        {
            "a.py": (
                "R = {}\nclass Base:\n    def __init_subclass__(cls): R[cls.__name__] = cls\n"
                "class Big(Base): pass\nprint(R['Big'])\n"
            )
        },
        "a.py:5 holds its name",
    ),
    "a class of a metaclass": (
        "Big",
        {
            "a.py": (
                "R = {}\nclass M(type):\n    def __init__(cls, name, bases, space): R[name] = cls\n"
                "class Big(metaclass=M): pass\nprint(R['Big'])\n"
            )
        },
        "a.py:5 holds its name",
    ),
    "a value that learns its name": (
        "A.size",
        {
            "a.py": (
                "class Field:\n    def __set_name__(self, owner, name): self.name = name\n"
                "    def __get__(self, item, owner): return {'size': 3}[self.name]\n"
                "class A:\n    size = Field()\nprint(A().size)\n"
            )
        },
        "a.py:5 learns its name",
    ),
    "a member of an enum as a key": (
        "Hue.RED",
        {"a.py": "from enum import Enum\nclass Hue(Enum):\n    RED = 1\nprint({'RED': 5}[Hue.RED.name])\n"},
        "a.py:4 holds its name",
    ),
    "a method that is called by the beginning of its name": (
        "V.visit_Name",
        {
            "a.py": (
                "import ast\nclass V(ast.NodeVisitor):\n    def visit_Name(self, node): print(node.id)\n"
                "V().visit(ast.parse('x'))\n"
            )
        },
        "ast.NodeVisitor",
    ),
    "keywords for a thread": (
        "f.size",
        {
            "a.py": (
                "from threading import Thread\ndef f(size): print(size)\n"
                "Thread(target=f, kwargs={'size': 1}).start()\nThread(target=f, kwargs=dict(size=2)).start()\n"
            )
        },
        "a.py:3, a.py:4",
    ),
    "keywords for a class that an attribute holds": (
        "Signer.__init__.salt",
        {
            "a.py": (
                "class Signer:\n    def __init__(self, salt=1): self.salt = salt\n"
                "class Box:\n    signer = Signer\n    def make(self): return self.signer(salt=2)\n"
                "print(Box().make().salt)\n"
            )
        },
        "a.py:5",
    ),
    "keywords for a class that a parameter holds": (
        "Signer.__init__.salt",
        {
            "a.py": (
                "class Signer:\n    def __init__(self, salt=1): self.salt = salt\n"
                "def make(kind): return kind(salt=2)\nprint(make(Signer).salt)\n"
            )
        },
        "a.py:3",
    ),
    "keywords in a dictionary": (
        "Signer.__init__.salt",
        {
            "a.py": "class Signer:\n    def __init__(self, salt=1): self.salt = salt\n",
            "b.py": "def make(kind, signer_kwargs): return kind(**signer_kwargs)\n",
            "c.py": "import a, b\nprint(b.make(a.Signer, signer_kwargs={'salt': 2}).salt)\n",
        },
        "c.py:2",
    ),
    "an override in a class with an unknown base": (
        "Signer.salt",
        {
            "a.py": (
                "class Signer:\n    salt = 1\n    def get(self): return self.salt\n"
                "def other(base):\n    class Other(base):\n        salt = 2\n    return Other().get()\n"
                "print(other(Signer))\n"
            )
        },
        "a.py:6",
    ),
    "a parameter in a signature": (
        "f.size",
        {"a.py": "import inspect\ndef f(size): return size\nprint('size' in inspect.signature(f).parameters)\n"},
        "a.py:3 holds its name",
    ),
    "variables by their names": (
        "f.size",
        {"a.py": "def f():\n    size = 1\n    return '{size}'.format(**locals())\nprint(f())\n"},
        "a.py:3 may look at all variables",
    ),
    "a parameter in a decorator": (
        "test_a.size",
        {"test_a.py": "import pytest\n@pytest.mark.parametrize('size', [1])\ndef test_a(size): assert size\n"},
        "test_a.py:2 holds its name",
    ),
    "a fixture that a test asks for": (
        "test_a.tmp_path",
        {"test_a.py": "def test_a(tmp_path): assert tmp_path.is_dir()\n"},
        "test_a.py:1 asks pytest",
    ),
    "a test": ("test_a", {"test_a.py": "def test_a(): assert True\n"}, "test_a.py:1 is a test"),
    "a pattern that only a run knows": (
        "load",
        {
            "a.js": "function load() {}\nmodule.exports = { load };\n",
            "b.js": "const key = 'load';\nconst { [key]: f } = require('./a');\nf();\n",
        },
        "b.js:2 takes a name",
    ),
    "a quoted key of an instance": (
        "A.load",
        {"a.js": "class A { load() {} }\nconst { 'load': f } = new A();\nf();\n"},
        "a.js:2",
    ),
    "a key of a loaded module": (
        "load",
        {"a.mjs": "export function load() {}\n", "b.mjs": "const { ['load']: f } = await import('./a.mjs');\nf();\n"},
        "b.mjs:1",
    ),
    "a function that is asked for its name": (
        "load",
        {"a.js": "function load() {}\nconst table = { [load.name]: load };\ntable['load']();\n"},
        "a.js:3 holds its name",
    ),
    "a method that JavaScript calls": (
        "A.toJSON",
        {"a.js": "class A { toJSON() { return 5; } }\nconsole.log(JSON.stringify(new A()));\n"},
        "JavaScript itself calls toJSON",
    ),
}


@pytest.mark.parametrize(("symbol", "files", "named"), DOUBTS.values(), ids=DOUBTS)
async def test_what_can_t_be_known_is_listed_and_nothing_is_renamed(
    bench: Workbench, symbol: str, files: dict[str, str], named: str
) -> None:
    write_all(bench, files)
    outcome = await bench.call("rename_symbol", symbol=symbol, newName="other_name")
    assert outcome.error is not None, outcome.content
    assert outcome.error.code == "uncertain"
    assert named in outcome.error.message
    assert read_all(bench, files) == files
    left = await bench.call("rename_symbol", symbol=symbol, newName="other_name", uncertain="leave")
    assert left.status == "success"
    assert named in left.content


async def test_the_uncertain_places_are_renamed_on_request(bench: Workbench) -> None:
    _, files, _ = DOUBTS["an object of unknown type"]
    write_all(bench, files)
    await bench.call("rename_symbol", symbol="Cart.total", newName="Cart.amount", uncertain="rename")
    assert printed(bench, "a.py") == "1\n"
