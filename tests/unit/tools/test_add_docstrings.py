"""The tool that adds skeletons of docstrings."""

from tests.unit.tools.workbench import Workbench

CART = '''\
class Cart:
    size = 1

    def add(self, item: str, *rest, count=1) -> int:
        if not item:
            raise ValueError("no")
        return 1

    def _hidden(self):
        pass

    @property
    def short(self): return 1


def parse_line(line):
    yield line


def done():
    """Yes."""


def test_it():
    pass
'''


async def test_what_is_public_and_has_none_gets_one_that_names_its_arguments(bench: Workbench) -> None:
    bench.write("a.py", CART)
    outcome = await bench.call("add_docstrings", path="a.py")
    assert outcome.content.startswith(
        "Added 3 docstring skeletons in a.py: Cart (line 1), Cart.add (line 4), parse_line"
    )
    assert "Left alone: Cart.short (line 13), its body is on the same line." in outcome.content
    text = bench.read("a.py").decode()
    compile(text, "a.py", "exec")
    assert 'class Cart:\n    """Cart."""\n\n    size = 1\n' in text
    assert (
        '        """Add.\n\n        Args:\n            item: …\n            *rest: …\n            count: …\n\n'
        '        Returns:\n            …\n\n        Raises:\n            ValueError: …\n        """\n'
        "        if not item:\n"
    ) in text
    assert (
        'def parse_line(line):\n    """Parse line.\n\n    Args:\n        line: …\n\n    Yields:\n        …\n    """\n'
        in text
    )

    again = await bench.call("add_docstrings", path="a.py", symbol="parse_line")
    assert "needs no docstring: it has one already" in again.content
    assert bench.read("a.py").decode() == text


async def test_the_style_of_the_file_is_kept(bench: Workbench) -> None:
    bench.write("a.py", 'def f(a):\n    """F.\n\n    :param a: it\n    """\n\n\ndef g(b):\n\treturn b\n')
    await bench.call("add_docstrings", path="a.py", symbol="g")
    assert (
        b'def g(b):\n\t"""G.\n\n\t:param b: \xe2\x80\xa6\n\t:returns: \xe2\x80\xa6\n\t"""\n\treturn b\n'
        in bench.read("a.py")
    )


async def test_a_script_gets_jsdoc(bench: Workbench) -> None:
    bench.write(
        "a.ts",
        "export class Cart {\r\n  private x() {}\r\n  add(item: string, { a }: O): number { return 1; }\r\n}\r\n"
        "function hidden() {}\r\n",
    )
    await bench.call("add_docstrings", path="a.ts")
    assert bench.read("a.ts").decode() == (
        "/** Cart. */\r\nexport class Cart {\r\n  private x() {}\r\n  /**\r\n   * Add.\r\n   *\r\n"
        "   * @param item …\r\n   * @param options …\r\n   * @returns …\r\n   */\r\n"
        "  add(item: string, { a }: O): number { return 1; }\r\n}\r\n"
        "function hidden() {}\r\n"
    )


async def test_what_is_not_there_is_said(bench: Workbench) -> None:
    bench.write("a.py", "def (\n")
    assert "syntax error at line 1" in (await bench.call("add_docstrings", path="a.py")).content
    bench.write("a.py", "x = 1\n")
    assert "defines no g" in (await bench.call("add_docstrings", path="a.py", symbol="g")).content
    assert "nothing was changed" in (await bench.call("add_docstrings", path="a.py")).content
