"""Renaming in Python: which of the places that hold a word mean the symbol, and which mean something else."""

import pytest

from tests.unit.code.rename_helpers import after, rename
from tools.code.project import Refusal

LOCALS = """\
id = 0
def load_user(id, more=id):
    names = [id for id in range(3)]
    def inner():
        return id
    return {"id": id, "text": f"{id!r:>{id}}", "call": more(id=id)}
def other(id):
    return id
load_user(id=3)
other(id=4)
"""


def test_a_parameter_is_renamed_in_its_function_only_and_where_that_is_called_by_keyword() -> None:
    files = {"a.py": LOCALS, "b.py": "from a import load_user, other\nload_user(id=1)\nother(id=1)\nunknown(id=1)\n"}
    found = after(files, "load_user.id", "user_id")
    assert found["a.py"] == (
        "id = 0\n"
        "def load_user(user_id, more=id):\n"
        "    names = [id for id in range(3)]\n"
        "    def inner():\n"
        "        return user_id\n"
        '    return {"id": user_id, "text": f"{user_id!r:>{user_id}}", "call": more(id=user_id)}\n'
        "def other(id):\n"
        "    return id\n"
        "load_user(user_id=3)\n"
        "other(id=4)\n"
    )
    assert found["b.py"] == "from a import load_user, other\nload_user(user_id=1)\nother(id=1)\nunknown(id=1)\n"


@pytest.mark.parametrize(
    ("before", "symbol", "expected"),
    [
        # comprehensions have scopes of their own, their first source has not
        ("x = [1]\ny = [x for x in x]\n", "x", "new = [1]\ny = [x for x in new]\n"),
        ("x = 1\ny = [(x, z) for z in range(x) for w in range(x)]\n", "x",
         "new = 1\ny = [(new, z) for z in range(new) for w in range(new)]\n"),
        ("def f():\n    if any((x := n) for n in []):\n        return x\n", "f.x",
         "def f():\n    if any((new := n) for n in []):\n        return new\n"),
        # a class's names are not seen in its methods
        ("x = 1\nclass A:\n    x = x\n    y = x\n    def m(self): return x\n", "x",
         None),
        ("def f():\n    return 1\nclass A:\n    g = f\n    def m(self, f=f): return f\n", "f",
         "def new():\n    return 1\nclass A:\n    g = new\n    def m(self, f=new): return f\n"),
        # global and nonlocal
        ("x = 1\ndef f():\n    global x\n    x = 2\ndef g():\n    x = 3\n", "x",
         "new = 1\ndef f():\n    global new\n    new = 2\ndef g():\n    x = 3\n"),
        ("def f():\n    global x\n    x = 2\ndef g():\n    return x\n", "x",
         "def f():\n    global new\n    new = 2\ndef g():\n    return new\n"),
        ("def f():\n    x = 1\n    def g():\n        nonlocal x\n        x += 1\n    return x\n", "f.x",
         "def f():\n    new = 1\n    def g():\n        nonlocal new\n        new += 1\n    return new\n"),
        # lambdas, walrus, unpacking, loops, with, except, match, del
        ("k = 1\nf = lambda k, m=k: k + m\n", "k", "new = 1\nf = lambda k, m=new: k + m\n"),
        ("a, (b, *c) = 1, (2, 3)\nprint(a, b, c)\n", "c", "a, (b, *new) = 1, (2, 3)\nprint(a, b, new)\n"),
        ("for n in []:\n    print(n)\nelse:\n    n = 1\n", "n", "for new in []:\n    print(new)\nelse:\n    new = 1\n"),
        ("with open('f') as (f, g):\n    f(g)\n", "g", "with open('f') as (f, new):\n    f(new)\n"),
        ("try:\n    pass\nexcept E as e:\n    print(e)\n", "e", "try:\n    pass\nexcept E as new:\n    print(new)\n"),
        ("match v:\n    case P(x=1, y=q) if q: q\n    case {'k': q, **r}: (q, r)\n    case A.q: 1\n", "q",
         "match v:\n    case P(x=1, y=new) if new: new\n    case {'k': new, **r}: (new, r)\n    case A.q: 1\n"),
        ("x = 1\ndel x\n", "x", "new = 1\ndel new\n"),
        # annotations, also quoted ones; a literal is a value
        ("class N:\n    n: 'N | None'\n    def f(self, a: \"list[N]\") -> 'N': ...\n    k: Literal['N']\n", "N",
         "class new:\n    n: 'new | None'\n    def f(self, a: \"list[new]\") -> 'new': ...\n    k: Literal['N']\n"),
        # strings, comments and docstrings are not code; __all__ is
        ('__all__ = ["f"]\ndef f():\n    """f"""  # f\n    return "f" + f.f\n', "f",
         '__all__ = ["new"]\ndef new():\n    """f"""  # f\n    return "f" + new.f\n'),
        ("@deco\ndef deco(a): return a\n", "deco", "@new\ndef new(a): return a\n"),
        ("def f(*, a, b=1): return a\nf(a=1, **{'a': 1})\n", "f.a",
         "def f(*, new, b=1): return new\nf(new=1, **{'a': 1})\n"),
        ("größe = 1\nprint(größe)\n", "größe", "new = 1\nprint(new)\n"),
    ],
)  # fmt: skip
def test_scopes(before: str, symbol: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(Refusal):
            rename({"a.py": before}, symbol, "new")
        return
    assert after({"a.py": before}, symbol, "new")["a.py"] == expected
    compile(expected, "a.py", "exec")


def test_a_type_parameter_has_a_scope_of_its_own() -> None:
    before = "T = 1\ndef f[T](a: T) -> T: ...\nclass C[T]:\n    a: T\n"
    assert after({"a.py": before}, "f.T", "K")["a.py"] == before.replace("f[T](a: T) -> T", "f[K](a: K) -> K")
    assert after({"a.py": before}, "C.T", "K")["a.py"] == before.replace("C[T]:\n    a: T", "C[K]:\n    a: K")


def test_a_name_is_followed_through_every_kind_of_import() -> None:
    files = {
        "src/pkg/__init__.py": "from .core import load\n__all__ = ['load']\n",
        "src/pkg/core.py": "def load():\n    return load\n",
        "src/pkg/more.py": "from . import core\nfrom .core import load as other\ncore.load(other)\n",
        "src/pkg/deep/inner.py": "from ..core import load\nfrom ... import load as nothing\nload()\n",
        "tests/test_it.py": "import pkg\nimport pkg.core\nimport pkg.core as c\npkg.load(pkg.core.load, c.load)\n",
        "tests/star.py": "from pkg import *\nload()\ndef f(load): return load\n",
        "app.py": "def g():\n    from pkg import load\n    return load()\nload = None\n",
        "stranger.py": "from elsewhere import load\nload()\nx.load()\n",
    }
    found = after(files, "load", "read", path="src/pkg/core.py")
    assert found == {
        **files,
        "src/pkg/__init__.py": "from .core import read\n__all__ = ['read']\n",
        "src/pkg/core.py": "def read():\n    return read\n",
        "src/pkg/more.py": "from . import core\nfrom .core import read as other\ncore.read(other)\n",
        "src/pkg/deep/inner.py": "from ..core import read\nfrom ... import load as nothing\nread()\n",
        "tests/test_it.py": "import pkg\nimport pkg.core\nimport pkg.core as c\npkg.read(pkg.core.read, c.read)\n",
        "tests/star.py": "from pkg import *\nread()\ndef f(load): return load\n",
        "app.py": "def g():\n    from pkg import read\n    return read()\nload = None\n",
    }


def test_a_string_that_is_the_path_of_a_symbol_follows_it() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/core.py": "def load(): ...\n",
        "tests/test_it.py": "patch('pkg.core.load')\npatch('other.load')\npatch('load')\nrun('pkg.core:load')\n",
    }
    done = rename(files, "load", "read")
    assert done.references.likely_lines == []
    assert done.contents["tests/test_it.py"].decode() == (
        "patch('pkg.core.read')\npatch('other.load')\npatch('load')\nrun('pkg.core:read')\n"
    )


def test_a_class_may_read_an_outer_name_before_it_has_its_own() -> None:
    before = "codec = 1\nclass A:\n    codec = codec\n    used = codec\n"
    found = after({"a.py": before}, "codec", "coder", path="a.py", line=1)["a.py"]
    assert found == "coder = 1\nclass A:\n    codec = coder\n    used = codec\n"
    assert after({"a.py": found}, "coder", "codec")["a.py"] == before


def test_behind_an_alias_the_old_name_lives_on() -> None:
    files = {
        "a.py": "def q(): ...\n",
        "b.py": "from a import q as r\n",
        "c.py": "from b import r as q\n",
        "d.py": "from c import q\nq()\n",
    }
    assert after(files, "a.q", "new") == {**files, "a.py": "def new(): ...\n", "b.py": "from a import new as r\n"}


CLASSES = """\
class Base:
    def save(self): ...
class Child(Base):
    def save(self):
        return super().save()
    def run(self):
        self.save()
        return [self.save for _ in ()]
class Stranger:
    def save(self): ...
def make() -> Child: ...
def f(a: Child, b, c: "Child | None", d: Stranger):
    a.save(); c.save(); make().save(); Child().save(); Base.save(a)
    d.save(); Stranger().save(); "".save(); [].save()
    e = Child()
    e.save()
    b.save()
"""


def test_a_method_is_renamed_with_what_overrides_it_and_only_where_its_class_is_evident() -> None:
    done = rename(
        {"a.py": CLASSES, "b.py": "from a import make\nx = make()\nx.save()\ny.save()\n"}, "Child.save", "keep"
    )
    text = done.contents["a.py"].decode()
    assert text.count("save") == 6
    assert "    d.save(); Stranger().save()" in text
    assert "    a.keep(); c.keep(); make().keep(); Child().keep(); Base.keep(a)\n" in text
    assert "    e.keep()\n    b.save()\n" in text
    assert done.contents["b.py"] == b"from a import make\nx = make()\nx.keep()\ny.save()\n"
    assert done.references.likely_lines == [("a.py", 17), ("b.py", 4)]


def test_an_attribute_is_renamed_with_the_keywords_that_make_it() -> None:
    before = (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: int = 0\n"
        "    def m(self): return self.x\np = P(x=1, y=2)\nprint(p.x, q.x)\nmatch p:\n    case P(x=1): ...\n"
    )
    done = rename({"a.py": before}, "P.x", "left")
    assert done.contents["a.py"].decode() == (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    left: int\n    y: int = 0\n"
        "    def m(self): return self.left\np = P(left=1, y=2)\nprint(p.left, q.x)\nmatch p:\n    case P(left=1): ...\n"
    )
    assert done.references.likely_lines == [("a.py", 8)]


def test_a_member_is_followed_into_copies_slots_and_strings() -> None:
    before = (
        "class P(NamedTuple):\n    x: int\n"
        "p = P(x=1)\nreplace(p, x=2)\np._replace(x=3)\nreplace(q, x=4)\n"
        "class S:\n    __slots__ = ('x',)\n    def __init__(self): self.x = 1\n"
        "getattr(p, 'x')\ngetattr(q, 'x')\n"
    )
    done = rename({"a.py": before}, "P.x", "left")
    assert done.contents["a.py"].decode() == (
        before.replace("    x: int", "    left: int")
        .replace("P(x=1)", "P(left=1)")
        .replace("(p, x=2)", "(p, left=2)")
        .replace("_replace(x=3)", "_replace(left=3)")
        .replace("getattr(p, 'x')", "getattr(p, 'left')")
    )
    assert done.references.likely_lines == [("a.py", 6), ("a.py", 11)]
    slots = after({"a.py": before}, "S.x", "left")["a.py"]
    assert "    __slots__ = ('left',)\n    def __init__(self): self.left = 1\n" in slots


def test_a_class_that_has_all_members_of_a_protocol_follows_it() -> None:
    before = (
        "class Port(Protocol):\n    def save(self): ...\n    def load(self): ...\n"
        "class Disk:\n    def save(self): ...\n    def load(self): ...\n"
        "class Game:\n    def save(self): ...\ndef f(port: Port): port.save()\nf(Disk())\n"
    )
    game = before.index("class Game"), before.index("def f(")
    expected = (
        before[: game[0]].replace("save", "keep") + before[slice(*game)] + before[game[1] :].replace("save", "keep")
    )
    assert after({"a.py": before}, "Port.save", "keep")["a.py"] == expected
    assert after({"a.py": before}, "Disk.save", "keep")["a.py"] == expected
    before = (
        "class Port(Protocol):\n    def save(self, path): ...\nclass Disk:\n    def save(self, path): ...\n"
        "def f(port: Port):\n    port.save(path=1)\n"
    )
    assert rename({"a.py": before}, "Disk.save.path", "place").references.likely_lines == [("a.py", 2), ("a.py", 6)]


def test_an_attribute_that_only_methods_make_is_known_too() -> None:
    before = (
        "class A:\n    def __init__(self, n):\n        self.n = n\n        self.b = B()\n"
        "    def f(self): return self.n\n"
        "class B:\n    def __init__(self): self.n = 1\nclass C:\n    def g(self, a: A): return a.n + a.b.n\n"
    )
    assert after({"a.py": before}, "A.n", "count")["a.py"] == (
        "class A:\n    def __init__(self, n):\n        self.count = n\n        self.b = B()\n"
        "    def f(self): return self.count\n"
        "class B:\n    def __init__(self): self.n = 1\nclass C:\n    def g(self, a: A): return a.count + a.b.n\n"
    )


def test_keywords_of_a_method_and_of_a_constructor_follow_their_parameter() -> None:
    before = (
        "class A:\n    def __init__(self, n): self.n = n\n    def m(self, n): return n\n"
        "a = A(n=1)\na.m(n=2)\nx.m(n=3)\nother(n=4)\n"
    )
    done = rename({"a.py": before}, "m.n", "count")
    assert done.contents["a.py"].decode() == (
        before.replace("def m(self, n): return n", "def m(self, count): return count").replace(
            "a.m(n=2)", "a.m(count=2)"
        )
    )
    assert done.references.likely_lines == [("a.py", 6)]
    assert "A(count=1)" in after({"a.py": before}, "__init__.n", "count")["a.py"]


def test_on_request_whole_words_in_strings_and_comments_are_renamed() -> None:
    before = 'def load():\n    """Like load, not reload."""\n    return "load"  # load\n'
    assert after({"a.py": before}, "load", "read", strings=True)["a.py"] == (
        'def read():\n    """Like read, not reload."""\n    return "read"  # read\n'
    )


def test_a_line_says_which_one_is_meant() -> None:
    before = "def f():\n    x = 1\n    return x\ndef g():\n    x = 2\n    return x\n"
    assert after({"a.py": before}, "x", "y", path="a.py", line=6)["a.py"] == before.replace(
        "x = 2\n    return x", "y = 2\n    return y"
    )


@pytest.mark.parametrize(
    ("files", "symbol", "new", "code", "said"),
    [
        ({"a.py": "def f(): ...\n"}, "f", "class", "invalid_name", "'class' is not a valid name"),
        ({"a.py": "def f(): ...\n"}, "f", "1a", "invalid_name", "'1a'"),
        ({"a.py": "def f(): ...\n"}, "g", "h", "no_match", "Nothing named g"),
        ({"a.py": "def f(): ...\n"}, "f", "f", "no_match", "already has this name"),
        ({"a.py": "def f(): ...\n", "b.py": "def f(): ...\n"}, "f", "g", "ambiguous", "- b.py:1 function f"),
        ({"a.py": "f = 1\ng = 2\n"}, "f", "g", "name_taken", "a.py:2"),
        ({"a.py": "f = 1\ndef h():\n    g = 2\n    return f\n"}, "f", "g", "name_taken", "another g would hide it"),
        ({"a.py": "g = 1\ndef h(f):\n    return f + g\n"}, "f", "g", "name_taken", "a.py:3: g means something else"),
        ({"a.py": "def f(): ...\nprint(list(f))\n"}, "f", "list", "name_taken", "a.py:2"),
        ({"a.py": "f = 1\n", "b.py": "from a import f\ng = f\n"}, "f", "g", "name_taken", "b.py:2"),
        ({"a.py": "class A:\n    def f(self): ...\n    def g(self): ...\n"}, "f", "g", "name_taken", "a.py:3"),
        ({"a.py": "class A:\n    def f(self): ...\nclass B(A):\n    def g(self): ...\n"},
         "A.f", "g", "name_taken", "a.py:4"),
        ({"a.py": "class A:\n    g = 1\nclass B(A):\n    def f(self): ...\n"}, "B.f", "g", "name_taken", "a.py:2"),
    ],
)  # fmt: skip
def test_what_is_refused_and_how(files: dict[str, str], symbol: str, new: str, code: str, said: str) -> None:
    with pytest.raises(Refusal) as refused:
        rename(files, symbol, new)
    assert refused.value.code == code
    assert said in refused.value.message
    assert "othing was changed" in refused.value.message or code == "invalid_name"


def test_a_file_with_a_syntax_error_is_left_alone() -> None:
    done = rename({"a.py": "def f(): ...\n", "b.py": "from a import f\ndef (\n"}, "f", "g")
    assert list(done.contents) == ["a.py"]


@pytest.mark.parametrize(
    "before",
    [
        b"\xef\xbb\xbfdef f():\r\n\treturn f\r\n",
        b"def f():\n\treturn f\r\nx = 1\r",
        "def f():\n    größe = '✓'; return f, größe\n".encode(),
        b"def f(): return f",
    ],
)
def test_there_and_back_again_gives_the_same_bytes(before: bytes) -> None:
    there = rename({"a.py": before}, "f", "größer").contents["a.py"]
    assert there != before
    assert rename({"a.py": there}, "größer", "f").contents["a.py"] == before


def test_a_variable_that_another_function_assigns_has_no_known_type() -> None:
    before = (
        "class A:\n    def go(self): ...\n\n\nclass B:\n    def go(self): ...\n\n\n"
        "def f():\n    x = A()\n    def g():\n        nonlocal x\n        x = B()\n    g()\n    return x.go()\n"
    )

    done = rename({"a.py": before}, "A.go", "run")

    assert done.references.likely_lines == [("a.py", 15)]
