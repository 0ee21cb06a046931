"""What code says about itself: definitions, who uses them, what a change reaches, files and the project."""

import re

import pytest

from tests.support.workbench import Workbench

PARSER = '''"""Reads lines."""
import re


def parse_line(line: str, *, strict: bool = False) -> list[str]:
    """Cut a line into words."""
    if strict and not line:
        raise ValueError(line)
    return _words(line)


def _words(line: str) -> list[str]:
    return re.findall(r"\\w+", line)


class Parser:
    def parse(self, text: str) -> list[list[str]]:
        return [parse_line(line) for line in text.splitlines()]

    def count(self, text: str) -> int:
        return len(self.parse(text))
'''


@pytest.fixture
def python(bench: Workbench) -> Workbench:
    bench.write("src/lines/__init__.py", '"""Lines."""\nfrom .parser import Parser, parse_line\n')
    bench.write("src/lines/parser.py", PARSER)
    bench.write(
        "src/lines/cli.py",
        "from lines import parse_line as cut\n\n\ndef main():\n    print(cut('a b'))\n\n\n"
        "def other(parse_line):\n    return parse_line('not the one')\n\n\nif __name__ == '__main__':\n    main()\n",
    )
    bench.write("src/other.py", "def parse_line(line):\n    return line\n\n\nparse_line('another one')\n")
    bench.write("tests/test_cli.py", "from lines.cli import main\n\n\ndef test_main():\n    main()\n")
    bench.write("notes.md", "parse_line is mentioned here\n")
    return bench


@pytest.fixture
def script(bench: Workbench) -> Workbench:
    bench.write("package.json", '{"name": "sums", "description": "Adds.", "scripts": {"test": "vitest"}}')
    bench.write(
        "src/add.ts",
        "/** Adds two numbers. */\nexport const add = (a: number, b: number): number => a + b;\n\n"
        "export default class Sum {\n  total = 0;\n  plus(n: number): Sum {\n    this.total = add(this.total, n);\n"
        "    return this;\n  }\n}\n",
    )
    bench.write("src/index.ts", "export { add as plus } from './add';\nexport * from './add';\n")
    bench.write(
        "src/app.tsx",
        "import { plus } from '.';\nimport Total from './add.js';\n\n"
        "export function App({ add }: { add: number }) {\n  const sum = new Total();\n  sum.plus(add);\n"
        "  return <b>{plus(1, 2)}</b>;\n}\n",
    )
    bench.write("src/add.test.ts", "import { add } from './add';\nit('adds', () => { expect(add(1, 1)).toBe(2); });\n")
    return bench


async def test_what_a_commonjs_module_exports_is_used_where_it_is_required(bench: Workbench) -> None:
    bench.write("lib/route.js", "function build(o) { return o; }\nmodule.exports = { build };\n")
    bench.write("lib/whole.js", "module.exports = whole;\nfunction whole() {}\n")
    bench.write("lib/more.js", "exports.build = () => 2;\n")
    bench.write(
        "main.js",
        "const { build: make } = require('./lib/route');\nconst everything = require('./lib/whole');\n"
        "function go(more) { everything(); more.nothing(); return make(1); }\nrequire('./lib/route').build();\ngo();\n",
    )
    bench.write("test/main.test.js", "const { build } = require('../lib/route');\ntest('builds', () => build(1));\n")

    found = await bench.call("find_usages", symbol="build", path="lib/route.js")
    whole = await bench.call("find_usages", symbol="whole")

    used = {(each["path"], each["line"], each["within"]) for each in found.details["usages"] if each["kind"] == "call"}
    assert used == {("main.js", 3, "go"), ("main.js", 4, ""), ("test/main.test.js", 2, "test 'builds'")}
    assert "**Used by** 3 places in 2 files (1 of them in tests)" in found.content
    assert "lib/route.js:2" not in found.content
    assert "- `go` — `main.js:3`" in whole.content and "the module itself" not in whole.content


async def test_many_tests_of_a_symbol_are_counted_by_file_beside_the_code_that_uses_it(python: Workbench) -> None:
    tests = "".join(f"\n\ndef test_{n}():\n    assert parse_line('{n}')\n" for n in range(8))
    python.write("tests/test_lines.py", f"from lines.parser import parse_line\n{tests}")

    content = (await python.call("describe_symbol", symbol="parse_line", path="src/lines")).content

    assert "(8 of them in tests)" in content
    assert "- `Parser.parse` — `src/lines/parser.py:" in content
    assert "- 8 places in `tests/test_lines.py`" in content
    assert "test_3" not in content


async def test_a_symbol_that_only_tests_use_is_counted_in_plain_words(python: Workbench) -> None:
    python.write("src/lines/alone.py", "def alone():\n    return 1\n")
    python.write("tests/test_alone.py", "from lines.alone import alone\n\n\ndef test_alone():\n    assert alone()\n")
    assert "1 place in 1 file, in tests" in (await python.call("describe_symbol", symbol="alone")).content


async def test_a_symbol_is_reported_with_signature_doc_place_users_and_what_it_calls(python: Workbench) -> None:
    content = (await python.call("describe_symbol", symbol="parse_line", path="src/lines")).content

    assert "`src/lines/parser.py:5`" in content
    assert "def parse_line(line: str, *, strict: bool = False) -> list[str]" in content
    assert "> Cut a line into words." in content
    assert "`Parser.parse` — `src/lines/parser.py:18`" in content
    assert "- `_words` — `src/lines/parser.py:12`" in content and "`ValueError`" in content


async def test_users_are_found_through_aliases_and_packages_that_hand_a_name_on(python: Workbench) -> None:
    content = (await python.call("find_usages", symbol="lines.parser.parse_line")).content

    assert "`main` — `src/lines/cli.py:5`" in content


async def test_what_only_has_the_same_name_is_no_user(python: Workbench) -> None:
    content = (await python.call("find_usages", symbol="parse_line", path="src/lines")).content

    assert "`other`" not in content, "its parameter hides the function"
    assert "src/other.py" not in content, "that module has one of its own"


async def test_an_import_within_a_function_counts_there_and_only_there(bench: Workbench) -> None:
    bench.write("a.py", "def far():\n    pass\n")
    bench.write(
        "b.py", "def one():\n    from a import far\n    far()\n\n\ndef two(far):\n    far()\n\n\nfar = 1\nprint(far)\n"
    )

    content = (await bench.call("find_usages", symbol="far", path="a.py")).content

    assert "**Used by** 1 place in 1 file:\n- `one` — `b.py:3`" in content


async def test_a_name_behind_a_module_is_found_in_patterns_and_types(bench: Workbench) -> None:
    bench.write("a.py", "class Event:\n    pass\n")
    bench.write("b.py", "import a\n\n\ndef f(x):\n    match x:\n        case a.Event():\n            return 1\n")
    bench.write("c.ts", "export interface Shape { x: number }\n")
    bench.write("d.ts", "import * as c from './c';\nexport function g(s: c.Shape) { return s.x; }\n")

    assert "`f` — `b.py:6`" in (await bench.call("find_usages", symbol="Event")).content
    assert "`g` — `d.ts:2`" in (await bench.call("find_usages", symbol="Shape")).content


async def test_a_method_is_surely_used_through_self_and_perhaps_where_the_object_is_not_known(bench: Workbench) -> None:
    bench.write("a.py", "class A:\n    def go(self): ...\n    def twice(self):\n        self.go()\n        self.go()\n")
    bench.write("b.py", "from a import A\n\ndef f(x):\n    x.go()\n\ndef g():\n    y = A()\n    y.go()\n")
    bench.write("c.py", "class B:\n    def go(self): ...\n    def h(self):\n        self.go()\n")

    content = (await bench.call("find_usages", symbol="A.go")).content
    sure, perhaps = content.split("Likely")

    assert "`A.twice` — `a.py:4` ×2" in sure and "`g` — `b.py:8`" in sure
    assert "`f` — `b.py:4`" in perhaps
    assert "`B.h`" not in content


async def test_a_change_is_followed_up_to_the_tests(python: Workbench) -> None:
    content = (await python.call("find_usages", symbol="_words", transitive=True)).content

    assert "**Uses it directly** (1):\n- `parse_line`" in content
    assert "`Parser.parse` — `src/lines/parser.py:17` (through `parse_line`)" in content
    assert "**Tests that reach it** (1 in 1 file):\n- `test_main` — `tests/test_cli.py:4`" in content


async def test_scripts_are_read_as_well(script: Workbench) -> None:
    content = (await script.call("find_usages", symbol="add")).content

    assert "`Sum.plus` — `src/add.ts:7`" in content
    assert "`App` — `src/app.tsx:7`" in content, "it is called by another name there"
    assert "src/app.tsx:6" not in content, "that is a parameter"
    assert "`it 'adds'` — `src/add.test.ts:2`" in content
    assert "`App` — `src/app.tsx:5`" in (await script.call("find_usages", symbol="Sum")).content, "a default import"


async def test_the_users_of_a_file_are_those_who_import_it(script: Workbench) -> None:
    direct = (await script.call("find_usages", symbol="src/add.ts")).content
    assert "`src/index.ts`" in direct and "`src/app.tsx`" in direct and "`src/add.test.ts`" in direct

    away = (await script.call("find_usages", symbol="src/add.ts", transitive=True)).content
    assert "Tests among the 3 files: 1." in away


async def test_a_name_that_is_not_there_is_an_error_that_names_what_is_near(python: Workbench) -> None:
    outcome = await python.call("describe_symbol", symbol="parse_lin")

    assert outcome.status == "error"
    assert "No symbol parse_lin is defined" in outcome.content and "parse_line (src/" in outcome.content
    elsewhere = await python.call("describe_symbol", symbol="Parser", path="tests")
    assert "not defined in tests; there is Parser (src/lines/parser.py:16)" in elsewhere.content


async def test_in_other_languages_users_are_found_by_name_and_it_says_so(bench: Workbench) -> None:
    bench.write(
        "a.go", "package a\n\n// Doubles it.\nfunc Twice(n int) int { return n * 2 }\n\nfunc F() { Twice(1) }\n"
    )

    content = (await bench.call("describe_symbol", symbol="Twice")).content

    assert "func Twice(n int) int" in content and "> Doubles it." in content
    assert "**Likely used by** 1 place in 1 file (Go: matched by name only):\n- `F` — `a.go:6`" in content
    impact = (await bench.call("find_usages", symbol="Twice", transitive=True)).content
    assert "Go: users are matched by name only." in impact


async def test_a_file_tells_its_purpose_outline_imports_and_importers(python: Workbench) -> None:
    content = (await python.call("describe_file", path="src/lines/parser.py")).content

    assert "in Python, 21 lines" in content and "> Reads lines." in content
    assert "- `class Parser` — class, line 16\n  - `def count(self, text: str) -> int` — method" in content.replace(
        "  - `def parse(self, text: str) -> list[list[str]]` — method, line 17\n", ""
    )
    assert "from packages `re`" in content
    assert "**Imported by** (1) `src/lines/__init__.py`" in content


async def test_a_folder_tells_what_its_files_are_for_and_who_imports_them(python: Workbench) -> None:
    content = (await python.call("describe_file", path="src/lines")).content

    assert "**`src/lines/`** holds 3 files" in content and "> Lines." in content
    assert "- `parser.py` — Reads lines." in content and "- `cli.py` — `main`, `other`" in content
    assert "**Imported by** `tests/` (1)." in content


@pytest.mark.parametrize("name", ["a b.py", "ü.py", "-x.py", "a\nb.py", "a'`\".py", "déjà/vu.ts", "x.min.js"])
@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\x00", b"def f(" * 300, b"class A:\n    def f(self): self.f()\n\r", b"\0" * 9]
)
async def test_odd_names_and_bytes_are_described_or_refused_in_words(
    bench: Workbench, name: str, content: bytes
) -> None:
    bench.write(name, content)
    bench.write("b.py", "from a import f\nf()\n")

    outcomes = await bench.batch(
        ("describe_project", {}),
        ("describe_file", {"path": f"./{name}"}),
        ("describe_symbol", {"symbol": "f"}),
        ("find_usages", {"symbol": "f", "transitive": True}),
        ("review_changes", {"paths": ["."]}),
        ("find_commands", {}),
    )

    assert not [outcome.content for outcome in outcomes if "unexpected" in outcome.content]


async def test_a_project_tells_what_it_is_and_draws_who_imports_whom(python: Workbench) -> None:
    python.write("README.md", "# lines\n\n[![badge](x)](y)\n\nCuts lines into words, quickly.\n\nMore.\n")
    python.write(
        "pyproject.toml", '[project]\nname = "lines"\nversion = "1.2"\n[project.scripts]\nlines = "lines.cli:main"\n'
    )
    python.write("src/web/page.py", "from lines import parse_line\nimport starlette\n")

    content = (await python.call("describe_project")).content

    assert content.startswith("**lines** 1.2: Cuts lines into words, quickly.")
    assert "- `lines` → `lines.cli:main`" in content
    assert "1 file; `python3 -m pytest" in content
    assert "`starlette`" in content
    picture = re.search(r"```mermaid\n(.*?)\n```", content, re.DOTALL)
    assert picture and picture[1].split("\n")[0] == "graph LR"
    assert re.search(r'(n\d)\["src/web"\]', picture[1]) and re.search(r"n\d -->\|1\| n\d", picture[1])


async def test_lines_of_every_text_file_count_and_of_no_picture(bench: Workbench) -> None:
    bench.write("a.py", "x = 1\n" * 3)
    bench.write("site/page.html", "<p>\n" * 4)
    bench.write("site/style.css", "a {}\n" * 5)
    bench.write("notes.txt", "note\n" * 6)
    bench.write("picture.png", b"\x89PNG\n\0\n\n")

    outcome = await bench.call("describe_project")

    assert isinstance(outcome.details, dict)
    assert (outcome.details["files"], outcome.details["lines"]) == (5, 18)
    assert outcome.details["languages"] == {"CSS": 5, "HTML": 4, "Python": 3}


async def test_an_empty_workspace_is_no_error(bench: Workbench) -> None:
    assert "empty" in (await bench.call("describe_project")).content


async def test_a_manifest_that_cannot_be_read_is_named(bench: Workbench) -> None:
    bench.write("package.json", "{ not json")

    assert "package.json cannot be read" in (await bench.call("describe_project")).content


async def test_details_say_how_certain_each_usage_is(bench: Workbench) -> None:
    bench.write("a.py", "class A:\n    def go(self): ...\n\n\nclass B(A):\n    def go(self): ...\n")
    bench.write("b.py", "from a import A, B\n\n\ndef f(a: A, b: B, c):\n    a.go()\n    b.go()\n    c.go()\n")

    outcome = await bench.call("find_usages", symbol="A.go")

    assert isinstance(outcome.details, dict) and isinstance(outcome.details["usages"], list)
    certainties = {each["line"]: each["certainty"] for each in outcome.details["usages"] if isinstance(each, dict)}
    assert certainties == {5: "certain", 7: "likely"}, "b.go() is the method of B"


async def test_a_go_file_is_imported_by_the_files_that_import_its_package(bench: Workbench) -> None:
    bench.write("go.mod", "module example.com/shop\n\ngo 1.22\n")
    bench.write("cart/cart.go", "package cart\n\nfunc Add() {}\n")
    bench.write(
        "main.go",
        'package main\n\nimport (\n\t"example.com/shop/cart"\n)\n\nfunc main() { cart.Add() }\n',
    )

    content = (await bench.call("describe_file", path="cart/cart.go")).content

    assert "**Imported by** (1) `main.go`" in content


async def test_a_method_that_it_calls_is_not_said_to_come_from_outside(bench: Workbench) -> None:
    bench.write("a.go", "package a\n\nfunc (c *C) Run() { c.Root(); helper() }\n")
    bench.write("b.go", "package a\n\nfunc (c *C) Root() {}\n\nfunc helper() {}\n")
    told = (await bench.call("describe_symbol", symbol="Run")).content
    assert "from outside the project" not in told
    assert "defined where rules can't tell: `c.Root`, `helper`" in told


async def test_a_function_that_a_script_assigns_to_an_object_is_a_definition(bench: Workbench) -> None:
    bench.write("app.js", "var app = exports;\napp.use = function use(fn) {\n  return fn();\n};\nfunction last() {}\n")
    bench.write("main.js", "var app = require('./app');\nfunction start() { app.use(print); }\n")
    told = (await bench.call("describe_symbol", symbol="app.use")).content
    assert "**`app.use`** is a JavaScript function at `app.js:2`" in told and "app.use = function use(fn)\n" in told
    assert "`start` — `main.js:2`" in told and "`app.js:2`\n" not in told


async def test_a_module_of_the_project_does_not_hide_that_of_the_language(bench: Workbench) -> None:
    bench.write("app/platform/asyncio.py", "import asyncio\n")
    bench.write("app/main.py", "import asyncio\nfrom app.platform import asyncio as own\n")
    bench.write("app/platform/queues.py", "")
    bench.write("app/use.py", "from app.platform import queues\n")

    shadowed = await bench.call("find_usages", symbol="asyncio")
    own = await bench.call("find_usages", symbol="queues")

    assert shadowed.error is not None and shadowed.error.code == "no_symbol"
    assert "`app/use.py`" in own.content


async def test_a_base_may_be_named_with_its_module(bench: Workbench) -> None:
    bench.write("web.py", "class Handler:\n    pass\n")
    bench.write("app.py", "import web\nclass Ok(web.Handler):\n    pass\n")

    found = await bench.call("find_usages", symbol="Handler")

    assert [each["kind"] for each in found.details["usages"]] == ["base"]


async def test_overloads_of_one_function_are_no_other_definitions(bench: Workbench) -> None:
    bench.write(
        "a.py",
        "from typing import overload\n@overload\ndef cut(x: int) -> int: ...\n@overload\ndef cut(x: str) -> str: ...\n"
        "def cut(x):\n    return x\n",
    )

    assert "definitions" not in (await bench.call("find_usages", symbol="cut")).content
    assert "elsewhere" not in (await bench.call("describe_symbol", symbol="cut")).content


async def test_a_method_of_rust_is_named_with_its_type(bench: Workbench) -> None:
    bench.write(
        "src/lib.rs",
        "mod parse;\npub struct Version;\nimpl Version {\n    pub fn parse(text: &str) -> Self { Version }\n}\n"
        "pub struct Range<T>(T);\nimpl<T> Range<T> {\n    pub fn parse(text: &str) -> u8 { 1 }\n}\n",
    )

    described = await bench.call("describe_symbol", symbol="Version::parse")
    other = await bench.call("describe_symbol", symbol="Range::parse")
    bare = await bench.call("describe_symbol", symbol="parse")

    assert described.content.startswith("**`Version.parse`** is a Rust")
    assert other.content.startswith("**`Range.parse`** is a Rust")
    assert "mod parse" not in bare.content
