"""A first test of a function: real and runnable, and it claims no more than can be known from the code."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from tools.code.signatures import Definition, Parameter
from tools.code.tree import below, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

PythonFramework = Literal["pytest", "unittest"]
ScriptFramework = Literal["vitest", "jest", "node"]

#: What may be called with made-up arguments: it neither changes nor starts anything.
_HARMLESS_NAMES = """
abs all any bool bytes chr dict divmod enumerate filter float format frozenset hash hex int isinstance len list map max
min ord pow range repr reversed round set sorted str sum tuple zip
"""
_HARMLESS_METHODS_NAMES = """
capitalize casefold copy count encode endswith find format get index isalnum isalpha isdecimal isdigit islower isspace
isupper items join keys ljust lower lstrip partition removeprefix removesuffix replace rjust rpartition rsplit rstrip
split splitlines startswith strip swapcase title upper values zfill append extend add
"""
_HARMLESS = frozenset(_HARMLESS_NAMES.split())
_HARMLESS_METHODS = frozenset(_HARMLESS_METHODS_NAMES.split())
_SAMPLES = {
    "int": ("1", "2", "3"),
    "float": ("1.5", "2.5", "0.5"),
    "str": ('"text"', '"word"', '"more"'),
    "bool": ("True", "False", "True"),
    "bytes": ('b"text"', 'b"word"', 'b"more"'),
    "list": ("[]", "[]", "[]"),
    "dict": ("{}", "{}", "{}"),
    "number": ("1", "2", "3"),
    "string": ('"text"', '"word"', '"more"'),
    "boolean": ("true", "false", "true"),
}
_NUMBER_NAMES = "n count index size number x y z a b i j k left right width height limit start stop"
_TEXT_NAMES = "name text line word s string title key message"
_BY_NAME = {"int": frozenset(_NUMBER_NAMES.split()), "str": frozenset(_TEXT_NAMES.split())}
_CHECKABLE = frozenset({"int", "float", "str", "bool", "bytes", "list", "dict", "set", "tuple"})


class Claim(NamedTuple):
    """The name of the test, the lines of its body, and what it claims in words."""

    name: str
    lines: tuple[str, ...]
    said: str
    inspects: bool = False


def python_claim(each: Definition, *, call: bool) -> Claim:
    """What is known of a Python function, the strongest first."""
    subject = each.full_name
    word = re.sub(r"\W+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", subject)).lower().strip("_")
    if call and (examples := list(_examples(each))):
        lines = tuple(f"assert {asked} == {expected}" for asked, expected in examples[:5])
        return Claim(f"test_{word}_does_what_its_docstring_shows", lines, "what its docstring shows")
    if call and (checked := _called(each)) is not None:
        asked, kind = checked
        note = f"# Made-up arguments: say here what {subject} gives for which."
        lines = (note, f"assert isinstance({asked}, {kind})")
        return Claim(f"test_{word}_gives_{_article(kind)}", lines, f"that it gives {_article(kind).replace('_', ' ')}")
    if each.kind == "class":
        lines = (f"assert isinstance({subject}, type)", f'assert {subject}.__name__ == "{each.name}"')
        return Claim(f"test_{word}_is_a_class", lines, "only that it is a class")
    names = ", ".join(f'"{one.name}"' for one in each.parameters)
    self_ = '"self", ' if each.owner and not set(each.marks) & {"staticmethod", "classmethod"} else ""
    wanted = f"[{(self_ + names).rstrip(', ')}]"
    note = f"# Only what its signature says: add what {subject} gives for which arguments."
    first = [f"assert inspect.iscoroutinefunction({subject})"] if each.is_async else []
    if set(each.marks) & {"property", "cached_property", "functools.cached_property"}:
        return Claim(
            f"test_{word}_is_there", (note, f'assert hasattr({each.owner}, "{each.name}")'), "only that it is there"
        )
    lines = (note, *first, f"assert list(inspect.signature({subject}).parameters) == {wanted}")
    return Claim(f"test_{word}_takes_what_it_says", lines, "only its signature", inspects=True)


def _article(kind: str) -> str:
    return f"an_{kind}" if kind[0] in "aeiou" else f"a_{kind}"


def _examples(each: Definition) -> Iterator[tuple[str, str]]:
    """`>>> f(1)` with a literal below it."""
    body = each.node.child_by_field_name("body")
    first = body.named_children[0] if body is not None and body.named_child_count else None
    if first is None or first.type != "expression_statement" or each.owner:
        return
    lines = [line.strip() for line in text_of(first).replace('"""', "\n").replace("'''", "\n").splitlines()]
    for asked, expected in pairwise(lines):
        if not asked.startswith(f">>> {each.name}(") or not expected or expected.startswith(">>>"):
            continue
        try:
            tree = ast.parse(asked[4:], mode="eval").body
            ast.literal_eval(expected)
        except (SyntaxError, ValueError):
            continue
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and all(map(_plain, tree.args)):
            yield asked[4:].strip(), expected


def _plain(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def _called(each: Definition) -> tuple[str, str] | None:
    """The call with made-up arguments and the type that it gives, if both are evident and the body is harmless."""
    if each.owner or each.kind == "class" or each.is_async or each.yields or each.raises or not _harmless(each.node):
        return None
    said = each.returns.partition("[")[0]
    kind = said if said in _CHECKABLE else None if said else _inferred(each.node)
    arguments = _arguments(each.parameters)
    if kind is None or arguments is None:
        return None
    return f"{each.name}({', '.join(arguments)})", kind


def _arguments(parameters: tuple[Parameter, ...]) -> list[str] | None:
    given: list[str] = []
    used: dict[str, int] = {}
    for one in parameters:
        if one.star or one.default is not None or one.optional:
            continue
        kind = one.annotation.partition("[")[0] or next(
            (kind for kind, names in _BY_NAME.items() if one.name in names), ""
        )
        samples = _SAMPLES.get(kind)
        if samples is None:
            return None
        sample = samples[used.get(kind, 0) % len(samples)]
        used[kind] = used.get(kind, 0) + 1
        given.append(f"{one.name}={sample}" if one.keyword_only else sample)
    return given


def _harmless(node: "Node") -> bool:
    body = node.child_by_field_name("body")
    for each in below(body) if body is not None else ():
        if each.type in (
            "import_statement",
            "import_from_statement",
            "global_statement",
            "nonlocal_statement",
            "await",
        ):
            return False
        if each.type in ("assignment", "augmented_assignment", "delete_statement"):
            left = each.child_by_field_name("left")
            if left is None or left.type in ("attribute", "subscript"):
                return False
        if each.type == "call":
            callee = each.child_by_field_name("function")
            if callee is None:
                return False
            name = callee.child_by_field_name("attribute") if callee.type == "attribute" else callee
            known = _HARMLESS_METHODS if callee.type == "attribute" else _HARMLESS
            if name is None or text_of(name) not in known:
                return False
    return True


_INFERRED = {
    "list_comprehension": "list",
    "list": "list",
    "dictionary": "dict",
    "dictionary_comprehension": "dict",
    "string": "str",
    "comparison_operator": "bool",
    "not_operator": "bool",
    "true": "bool",
    "false": "bool",
}
_CALLS = {"str": "str", "int": "int", "len": "int", "sorted": "list", "list": "list", "dict": "dict", "bool": "bool"}


def _inferred(node: "Node") -> str | None:
    """The type of every value that is returned, where all say the same."""
    kinds: set[str | None] = set()
    for each in below(node):
        if each.type == "return_statement" and each.named_child_count:
            value = each.named_children[0]
            callee = value.child_by_field_name("function") if value.type == "call" else None
            kinds.add(_CALLS.get(text_of(callee)) if callee is not None else _INFERRED.get(value.type))
    return kinds.pop() if len(kinds) == 1 else None


# -- as it is written --------------------------------------------------------------------------------------------------


def python_test(claim: Claim, framework: PythonFramework, newline: str = "\n") -> str:
    if framework == "pytest":
        return newline.join([f"def {claim.name}():", *(f"    {line}" for line in claim.lines)])
    title = "".join(part.capitalize() for part in claim.name.removeprefix("test_").split("_"))
    body = [f"        {_asserted(line)}" for line in claim.lines]
    return newline.join([f"class {title}(unittest.TestCase):", f"    def {claim.name}(self):", *body])


def _asserted(line: str) -> str:
    if line.startswith("assert isinstance("):
        return f"self.assertIsInstance({line.removeprefix('assert isinstance(')}"
    if line.startswith("assert ") and " == " in line:
        left, _, right = line.removeprefix("assert ").rpartition(" == ")
        return f"self.assertEqual({left}, {right})"
    return f"self.assertTrue({line.removeprefix('assert ')})" if line.startswith("assert ") else line


def script_claim(each: Definition, *, call: bool) -> tuple[tuple[str, str], ...]:
    """What is known of a script's function: what is looked at, and what it is."""
    if call and (checked := _script_called(each)) is not None:
        return (checked,)
    if each.kind == "class":
        return ((f"typeof {each.name}", '"function"'), (f"{each.name}.name", f'"{each.name}"'))
    length = 0
    for one in each.parameters:
        if one.default is not None or one.star:
            break
        length += 1
    return ((f"typeof {each.name}", '"function"'), (f"{each.name}.length", str(length)))


def _script_called(each: Definition) -> tuple[str, str] | None:
    value = each.node.child_by_field_name("value") or each.node
    body = value.child_by_field_name("body")
    busy = ("call_expression", "new_expression", "await_expression", "throw_statement", "assignment_expression", "this")
    if each.owner or each.is_async or each.yields or body is None or any(one.type in busy for one in below(body)):
        return None
    if body.type in busy or each.returns not in ("number", "string", "boolean"):
        return None
    arguments = _arguments(each.parameters)
    if arguments is None or any(not one.annotation and one.default is None for one in each.parameters):
        return None
    return (f"typeof {each.name}({', '.join(arguments)})", f'"{each.returns}"')


def script_test(each: Definition, framework: ScriptFramework, quote: str, end: str, *, call: bool) -> tuple[str, str]:
    """The test, and what it claims in words."""
    facts = script_claim(each, call=call)
    called = facts[0][0].startswith(f"typeof {each.name}(")
    about = f"gives a {each.returns}" if called else "is a class" if each.kind == "class" else "takes what it says"
    note = "Made-up arguments: say" if called else "Only what its signature says: add"
    lines = [f"  // {note} what {each.name} gives for which arguments."]
    for left, right in facts:
        wanted = right.replace('"', quote)
        left = left.replace('"', quote)
        check = f"assert.equal({left}, {wanted})" if framework == "node" else f"expect({left}).toBe({wanted})"
        lines.append(f"  {check}{end}")
    text = "\n".join([f"test({quote}{each.name} {about}{quote}, () => {{", *lines, f"}}){end}"])
    said = (
        f"that it gives a {each.returns}"
        if called
        else "only that it is a class"
        if each.kind == "class"
        else ("only its signature")
    )
    return text, said
