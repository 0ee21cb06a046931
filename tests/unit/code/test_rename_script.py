"""Renaming in TypeScript and JavaScript: blocks, destructuring, types beside values, JSX, imports and exports."""

import pytest

from tests.unit.code.rename_helpers import after, rename
from tools.code.project import Refusal


@pytest.mark.parametrize(
    ("before", "symbol", "expected"),
    [
        # blocks
        ("let x = 1; { let x = 2; f(x); } f(x);", "x", "let new1 = 1; { let x = 2; f(x); } f(new1);"),
        ("function g() { if (a) { var v = 1; } return v; }", "g.v",
         "function g() { if (a) { var new1 = 1; } return new1; }"),
        ("for (let i = 0; i < 3; i++) { f(i); }", "i", "for (let new1 = 0; new1 < 3; new1++) { f(new1); }"),
        ("for (const k of l) { f(k); } const k = 1;", "k", "for (const k of l) { f(k); } const new1 = 1;"),
        ("try { f(); } catch (e) { g(e); } h(e);", "e", "try { f(); } catch (new1) { g(new1); } h(e);"),
        ("const f = function n() { return n; };", "n", "const f = function new1() { return new1; };"),
        ("h(); function h() {}", "h", "new1(); function new1() {}"),
        # one word that is a property and a variable
        ("function g(id) { return {id, k: id}; }", "g.id", "function g(new1) { return {id: new1, k: new1}; }"),
        ("const {id} = o; f(id, o.id);", "id", "const {id: new1} = o; f(new1, o.id);"),
        ("const {id = 1, ...r} = o; f(id);", "id", "const {id: new1 = 1, ...r} = o; f(new1);"),
        ("const {k: id} = o; f(id);", "id", "const {k: new1} = o; f(new1);"),
        ("let a; ({a} = o); [a] = p;", "a", "let new1; ({a: new1} = o); [new1] = p;"),
        ("const g = ({id}) => id; const h = (id) => id;", "g.id",
         "const g = ({id: new1}) => new1; const h = (id) => id;"),
        ("const a = 1; const o = {a: a, [a]: 1, 'a': 2}; o.a;", "a",
         "const new1 = 1; const o = {a: new1, [new1]: 1, 'a': 2}; o.a;"),
        # types beside values
        ("type T = number; const t: T = 1; const T = 2; f(T);", None, None),
        ("type id = string; function g(id: id) { return id; }", "g.id",
         "type id = string; function g(new1: id) { return new1; }"),
        ("function g<T>(a: T): T { return a as T; } type T = 1;", "g.T",
         "function g<new1>(a: new1): new1 { return a as new1; } type T = 1;"),
        ("class K { a: K; } const k: K = new K(); type U = typeof k;", "K",
         "class new1 { a: new1; } const k: new1 = new new1(); type U = typeof k;"),
        ("const k = 1; type U = typeof k; type M = {[k in U]: k};", "k", None),
        ("interface I { a: I } interface J extends I {}", "I",
         "interface new1 { a: new1 } interface J extends new1 {}"),
        ("enum E { A } f(E.A); const e: E = E.A;", "E", "enum new1 { A } f(new1.A); const e: new1 = new1.A;"),
        # not names of the program
        ("const a = 1; a: for (;;) { break a; }", "a", "const new1 = 1; a: for (;;) { break a; }"),
        ("const a = `a ${a}`; // a", "a", "const new1 = `a ${new1}`; // a"),
        ("@Dec() class K { @Dec() m() {} } function Dec() {}", "Dec",
         "@new1() class K { @new1() m() {} } function new1() {}"),
    ],
)  # fmt: skip
def test_scopes(before: str, symbol: str | None, expected: str | None) -> None:
    if symbol is None or expected is None:
        with pytest.raises(Refusal):
            rename({"a.ts": before}, symbol or "T", "new1")
        return
    assert after({"a.ts": before}, symbol, "new1")["a.ts"] == expected


def test_a_component_is_renamed_where_it_is_drawn_and_an_element_of_the_page_is_not() -> None:
    before = "const Box = (p) => <div box={p}><Box a={Box}>Box</Box></div>;\nconst div = 1; f(div);\n"
    assert after({"a.tsx": before}, "Box", "Card")["a.tsx"] == (
        "const Card = (p) => <div box={p}><Card a={Card}>Box</Card></div>;\nconst div = 1; f(div);\n"
    )
    with pytest.raises(Refusal, match="upper-case"):
        rename({"a.tsx": before}, "Box", "card")
    assert after({"a.tsx": before}, "div", "n")["a.tsx"] == before.replace("const div = 1; f(div)", "const n = 1; f(n)")


def test_a_name_is_followed_through_every_kind_of_import_and_export() -> None:
    files = {
        "src/core.ts": "export function load() { return load; }\nexport const api = { load };\n",
        "src/index.ts": "export { load } from './core';\n",
        "src/all.ts": "export * from './core.js';\n",
        "src/alias.ts": "export { load as fetch } from './core';\n",
        "app.ts": "import { load, api } from './src';\nload(api.load);\n",
        "far.ts": "import { load as mine } from './src/all';\nmine();\n",
        "space.ts": "import * as core from './src/core';\ncore.load(other.load);\n",
        "user.ts": "import { fetch } from './src/alias';\nfetch();\nconst load = 1;\n",
        "stranger.ts": "import { load } from 'library';\nload();\n",
    }
    assert after(files, "load", "read", path="src/core.ts") == {
        **files,
        "src/core.ts": "export function read() { return read; }\nexport const api = { load: read };\n",
        "src/index.ts": "export { read } from './core';\n",
        "src/alias.ts": "export { read as fetch } from './core';\n",
        "app.ts": "import { read, api } from './src';\nread(api.load);\n",
        "far.ts": "import { read as mine } from './src/all';\nmine();\n",
        "space.ts": "import * as core from './src/core';\ncore.read(other.load);\n",
    }


def test_what_is_loaded_while_it_runs_is_not_certain() -> None:
    files = {
        "a.ts": "export function load() {}\n",
        "b.ts": "const m = await import('./a');\nm.load();\nimport('./a').then(({ load }) => load());\n",
        "c.ts": "export type * from './a';\ntype Span = readonly [load: number];\n",
        "d.ts": "import { load } from './c';\nload();\n",
    }
    done = rename(files, "load", "read", path="a.ts")
    assert done.references.likely_lines == [("b.ts", 2), ("b.ts", 3)]
    assert sorted(done.contents) == ["a.ts", "d.ts"]


def test_a_default_export_is_renamed_at_home_and_its_importers_keep_their_word() -> None:
    files = {
        "a.ts": "export default function load() { return load; }\n",
        "b.ts": "import load from './a';\nload();\n",
    }
    assert after(files, "load", "read", path="a.ts") == {
        **files,
        "a.ts": "export default function read() { return read; }\n",
    }


def test_what_commonjs_exports_is_renamed_where_it_is_required() -> None:
    files = {
        "a.js": "function load() {}\nmodule.exports = { load, other: load };\n",
        "b.js": "exports.load = load;\nmodule.exports.again = load;\nfunction load() {}\n",
        "c.js": "const { load, x = 1, ...rest } = require('./a');\nconst { load: own } = require('./a');\nload(own);\n",
        "d.js": "const all = require('./a');\nall.load(all.other, require('./a').load);\n",
        "e.js": "const load = require('./a').load;\nload();\nconst mine = require('./b').load;\n",
        "f.js": "module.exports = { ...require('./a'), save() {} };\n",
        "g.js": "const { load } = require('./f');\nload();\n",
    }
    done = after(files, "load", "read", path="a.js")
    assert done == {
        "a.js": "function read() {}\nmodule.exports = { read, other: read };\n",
        "b.js": files["b.js"],
        "c.js": "const { read, x = 1, ...rest } = require('./a');\nconst { read: own } = require('./a');\nread(own);\n",
        "d.js": "const all = require('./a');\nall.read(all.other, require('./a').read);\n",
        "e.js": "const read = require('./a').read;\nread();\nconst mine = require('./b').load;\n",
        "f.js": files["f.js"],
        "g.js": "const { read } = require('./f');\nread();\n",
    }
    done = after(files, "load", "read", path="b.js")
    assert done["b.js"] == "exports.read = read;\nmodule.exports.again = read;\nfunction read() {}\n"
    assert done["e.js"].endswith("const mine = require('./b').read;\n")


def test_a_whole_commonjs_module_is_renamed_at_home_and_its_importers_keep_their_word() -> None:
    files = {
        "a.js": "function load() { return load; }\nexports = module.exports = load;\n",
        "b.js": "const load = require('./a');\nload();\n",
    }
    assert after(files, "load", "read", path="a.js") == {**files, "a.js": files["a.js"].replace("load", "read")}


def test_a_member_is_renamed_where_its_class_is_evident() -> None:
    before = (
        "class C { private n = 1; inc() { this.n++; return this.n; } static make(): C { return new C(); } }\n"
        "class D extends C { inc() { return super.inc() + 1; } }\n"
        "const c = new C(); c.inc(); C.make().inc(); other.inc(); new D().inc();\n"
        "function f(x: D, y) { x.inc(); y.inc(); (y as C).inc(); }\n"
    )
    done = rename({"a.ts": before}, "C.inc", "up")
    assert done.contents["a.ts"].decode() == (
        "class C { private n = 1; up() { this.n++; return this.n; } static make(): C { return new C(); } }\n"
        "class D extends C { up() { return super.up() + 1; } }\n"
        "const c = new C(); c.up(); C.make().up(); other.inc(); new D().up();\n"
        "function f(x: D, y) { x.up(); y.inc(); (y as C).up(); }\n"
    )
    assert done.references.likely_lines == [("a.ts", 3), ("a.ts", 4)]


def test_a_property_of_an_interface_follows_where_the_type_is_declared() -> None:
    before = (
        "interface P { name: string }\nconst p: P = { name: 'x' };\nconst q = { name: 'y' };\n"
        "function f(a: P) { const { name } = a; return a.name + p.name + q.name; }\n"
    )
    done = rename({"a.ts": before}, "P.name", "title")
    assert done.contents["a.ts"].decode() == (
        "interface P { title: string }\nconst p: P = { title: 'x' };\nconst q = { name: 'y' };\n"
        "function f(a: P) { const { name } = a; return a.title + p.title + q.name; }\n"
    )
    assert done.references.likely_lines == [("a.ts", 3), ("a.ts", 4)]


def test_a_private_name_stays_private() -> None:
    before = "class C { #n = 1; f() { return this.#n; } }\n"
    assert after({"a.ts": before}, "#n", "#m")["a.ts"] == before.replace("#n", "#m")
    with pytest.raises(Refusal, match="private"):
        rename({"a.ts": before}, "#n", "m")


@pytest.mark.parametrize(
    ("before", "symbol", "new", "code"),
    [
        ("const f = 1;", "f", "class", "invalid_name"),
        ("const f = 1; const g = 2;", "f", "g", "name_taken"),
        ("const f = 1; function h(g) { return f; }", "f", "g", "name_taken"),
        ("function h(f) { return f + g; } const g = 1;", "f", "g", "name_taken"),
        ("const f = 1; console.log(f);", "f", "console", "name_taken"),
    ],
)
def test_what_is_refused(before: str, symbol: str, new: str, code: str) -> None:
    with pytest.raises(Refusal) as refused:
        rename({"a.ts": before}, symbol, new)
    assert refused.value.code == code


@pytest.mark.parametrize("before", [b"\xef\xbb\xbfconst f = 1;\r\n\tg(f);\r\n", "const f = '✓', ä = f\n".encode()])
def test_there_and_back_again_gives_the_same_bytes(before: bytes) -> None:
    there = rename({"a.ts": before}, "f", "größer").contents["a.ts"]
    assert rename({"a.ts": there}, "größer", "f").contents["a.ts"] == before


def test_a_variable_that_another_function_assigns_has_no_known_type() -> None:
    before = (
        "class A { go() {} }\nclass B { go() {} }\nlet x = new A();\n"
        "function g() { x = new B(); }\nexport function f() { g(); return x.go(); }\n"
    )

    done = rename({"a.ts": before}, "A.go", "run")

    assert done.references.likely_lines == [("a.ts", 5)]
