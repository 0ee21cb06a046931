"""Cutting a file: its calls and imports come in the order of their lines."""

from sidecar.memory.chunks import cut
from tools.code.source import SourceText


def test_calls_and_imports_come_in_the_order_of_the_file() -> None:
    lines = []
    for number in range(60):  # a query captures them in any order
        lines += [f"import module_{number}", f"def function_{number}(): return module_{number}.call(other())"]
    facts = cut(SourceText("a.py", "\n".join(lines).encode()))
    assert [call.line for call in facts.calls] == [line for line in range(2, 121, 2) for _ in range(2)]
    assert [node.start_point[0] for node in facts.imports] == list(range(0, 120, 2))
