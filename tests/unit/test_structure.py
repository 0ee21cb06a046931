"""The shape of the source: imports form no cycle and no long chain, and only the engine parses keys."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEEPEST_CHAIN = 12


def modules() -> dict[str, Path]:
    found = (path for room in ("sidecar", "bridge", "tools") for path in (ROOT / room).rglob("*.py"))
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in found}


def imported(node: ast.AST, known: dict[str, Path], *, nested: bool) -> set[str]:
    """The modules that it imports when it is loaded; with `nested`, also those of functions and type checks."""
    found: set[str] = set()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom) and child.module:
            names = (f"{child.module}.{each.name}" for each in child.names)
            found |= {name if name in known else child.module for name in names} & known.keys()
        elif isinstance(child, ast.Import):
            found |= {each.name for each in child.names} & known.keys()
        elif isinstance(child, ast.expr):
            continue  # an expression holds no import
        elif nested or not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            is_type_check = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            found |= imported(child, known, nested=nested) if nested or not is_type_check else set()
    return found


@cache
def trees() -> dict[str, ast.Module]:
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in modules().items()}


def graph(*, nested: bool) -> dict[str, set[str]]:
    known = modules()
    return {name: imported(tree, known, nested=nested) - {name} for name, tree in trees().items()}


def test_no_modules_import_each_other_not_even_inside_functions() -> None:
    edges = graph(nested=True)
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, f"a cycle: {' → '.join((*above, name))}"
        if name not in done:
            for each in edges[name]:
                visit(each, (*above, name))
            done.add(name)

    for name in edges:
        visit(name, ())


def test_the_deepest_chain_of_imports_is_short() -> None:
    edges = graph(nested=False)

    @cache
    def chain(name: str) -> tuple[str, ...]:
        return (name, *max((chain(each) for each in edges[name]), key=len, default=()))

    deepest = max((chain(name) for name in edges), key=len)
    assert len(deepest) <= DEEPEST_CHAIN, " → ".join(deepest)


def test_only_the_engine_parses_keys_of_steps_and_calls() -> None:
    parses = re.compile(r"(?:record\.key|call_id|message_id)\.(?:startswith|partition|rpartition|split|removeprefix)\(")
    allowed = {"sidecar.engine.steps", "sidecar.engine.timeline", "sidecar.engine.files", "sidecar.engine.fork"}
    found = {name for name, path in modules().items() if parses.search(path.read_text(encoding="utf-8"))}
    assert found <= allowed
