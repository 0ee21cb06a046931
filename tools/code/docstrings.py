"""Skeletons of docstrings and JSDoc: what the code says by itself, and an ellipsis where a person must say more."""

from typing import NamedTuple

from tools.code.edits import Edit, newline_of
from tools.code.signatures import Definition, Parameter, definitions, spoken
from tools.code.tree import Source

_SKIPPED_MARKS = ("overload", "typing.overload")


class Skeletons(NamedTuple):
    edits: list[Edit]
    added: list[Definition]
    #: With the reason.
    passed_over: list[tuple[Definition, str]]


def skeletons(source: Source, symbol: str | None = None) -> Skeletons:
    """For everything public that has none; with a symbol, for that one, public or not."""
    found = Skeletons([], [], [])
    style = _style(source.text)
    for each in definitions(source):
        if symbol is not None and symbol not in (each.name, each.full_name):
            continue
        if symbol is None and not _public(each, source):
            continue
        if _documented(each, source):
            if symbol is not None:
                found.passed_over.append((each, "it has one already"))
            continue
        edit = _python(each, source, style) if source.family == "python" else _script(each, source)
        if edit is None:
            found.passed_over.append((each, "its body is on the same line"))
        else:
            found.edits.append(edit)
            found.added.append(each)
    return found


def _public(each: Definition, source: Source) -> bool:
    names = each.full_name.split(".")
    if any(name.startswith(("_", "#")) for name in names) or set(each.marks) & {*_SKIPPED_MARKS, "private"}:
        return False
    if any(mark.endswith((".setter", ".deleter")) for mark in each.marks):
        return False
    if source.family == "python":
        return not each.name.startswith("test_") and not each.owner.startswith("Test")
    return each.exported and each.name != "constructor"


def _documented(each: Definition, source: Source) -> bool:
    if source.family == "python":
        body = each.node.child_by_field_name("body")
        first = next((child for child in body.named_children if child.type != "comment"), None) if body else None
        return (
            first is not None
            and first.type == "expression_statement"
            and bool(first.named_child_count)
            and first.named_children[0].type in ("string", "concatenated_string")
        )
    above = each.outer.prev_sibling
    while above is not None and above.type == "decorator":
        above = above.prev_sibling
    return above is not None and above.type == "comment" and (above.text or b"").startswith(b"/**")


# -- Python ------------------------------------------------------------------------------------------------------------


def _style(text: bytes) -> str:
    if b":param " in text or b":returns:" in text:
        return "sphinx"
    return "numpy" if b"Parameters\n    ------" in text.replace(b"\r\n", b"\n") else "google"


def _python(each: Definition, source: Source, style: str) -> Edit | None:
    body = each.node.child_by_field_name("body")
    if body is None or not body.named_child_count:
        return None
    first = body.named_children[0]
    start = source.text.rfind(b"\n", 0, first.start_byte) + 1
    indent = source.text[start : first.start_byte]
    if indent.strip() or start <= each.node.start_byte:
        return None
    lines = [f"{spoken(each.name)}."]
    lines += {"google": _google, "sphinx": _sphinx, "numpy": _numpy}[style](each)
    newline = newline_of(source.text).decode()
    margin = indent.decode()
    text = f'{margin}"""{lines[0]}'
    if len(lines) > 1:
        text += newline + newline.join(f"{margin}{line}" if line else "" for line in lines[1:]) + newline + margin
    return Edit(start, start, f'{text}"""{newline}'.encode() + _apart(each, source, newline))


def _apart(each: Definition, source: Source, newline: str) -> bytes:
    """A class's docstring stands apart from what follows it."""
    return newline.encode() if each.kind == "class" else b""


def _named(parameter: Parameter) -> str:
    return f"{parameter.star}{parameter.name}"


def _returns(each: Definition) -> bool:
    return each.gives and each.returns not in ("None", "NoReturn", "Never")


def _google(each: Definition) -> list[str]:
    lines: list[str] = []
    if each.parameters:
        lines += ["", "Args:", *(f"    {_named(one)}: …" for one in each.parameters)]
    if each.yields:
        lines += ["", "Yields:", "    …"]
    elif _returns(each):
        lines += ["", "Returns:", "    …"]
    if each.raises:
        lines += ["", "Raises:", *(f"    {name}: …" for name in each.raises)]
    return lines


def _sphinx(each: Definition) -> list[str]:
    lines = [f":param {one.name}: …" for one in each.parameters]
    lines += [":returns: …"] if _returns(each) or each.yields else []
    lines += [f":raises {name}: …" for name in each.raises]
    return ["", *lines] if lines else []


def _numpy(each: Definition) -> list[str]:
    lines: list[str] = []
    if each.parameters:
        lines += ["", "Parameters", "----------"]
        for one in each.parameters:
            lines += [f"{_named(one)} : {one.annotation}" if one.annotation else _named(one), "    …"]
    if _returns(each) or each.yields:
        title = "Yields" if each.yields else "Returns"
        lines += ["", title, "-" * len(title), each.returns or "…", *(["    …"] if each.returns else [])]
    if each.raises:
        lines += ["", "Raises", "------"]
        for name in each.raises:
            lines += [name, "    …"]
    return lines


# -- JavaScript and TypeScript -----------------------------------------------------------------------------------------


def _script(each: Definition, source: Source) -> Edit | None:
    start = source.text.rfind(b"\n", 0, each.outer.start_byte) + 1
    indent = source.text[start : each.outer.start_byte]
    if indent.strip():
        return None
    lines = [f"{spoken(each.name)}."]
    about = [f"@param {one.name} …" for one in each.parameters]
    void = each.returns in ("void", "Promise<void>", "never")
    about += ["@yields …"] if each.yields else ["@returns …"] if each.gives and not void else []
    about += [f"@throws {{{name}}} …" for name in each.raises]
    lines += ["", *about] if about else []
    margin, newline = indent.decode(), newline_of(source.text).decode()
    if len(lines) == 1:
        text = f"{margin}/** {lines[0]} */{newline}"
    else:
        inner = newline.join(f"{margin} * {line}".rstrip() for line in lines)
        text = f"{margin}/**{newline}{inner}{newline}{margin} */{newline}"
    return Edit(start, start, text.encode())
