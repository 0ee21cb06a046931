"""What a program does is not changed by what its names are."""

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.unit.code.programs import NAMES, programs
from tests.unit.code.rename_helpers import project_of
from tools.code.project import Refusal
from tools.code.rename import RenameRequest, plan_rename


def behaviour(text: str) -> str:
    """What it prints, and how it ends; what a function or a class calls itself is not what it does."""
    printed: list[str] = []

    def show(value: object) -> None:
        printed.append(repr(value) if isinstance(value, (int, str)) else "function" if callable(value) else "thing")

    try:
        exec(compile(text, "program.py", "exec"), {"__name__": "program", "print": show})
    except Exception as error:  # whatever a program does when it fails, it must do again
        printed.append(type(error).__name__)
    return "\n".join(printed)


@settings(max_examples=200, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=programs, name=st.sampled_from(NAMES), choice=st.integers(0, 30), ending=st.sampled_from(["\n", "\r\n"]))
def test_a_program_does_the_same_under_another_name_and_comes_back_byte_for_byte(
    program: str, name: str, choice: int, ending: str
) -> None:
    try:
        compile(program, "program.py", "exec")
    except SyntaxError:
        assume(False)
    content = program.replace("\n", ending).encode()
    project = project_of({"program.py": content})
    file = project.files["program.py"]
    lines = [binding.line for binding in file.bindings if binding.name == name]
    assume(lines)
    line = lines[choice % len(lines)]
    try:
        there = plan_rename(RenameRequest(name, "fresh", "program.py", line), project)
    except Refusal as refusal:
        assert refusal.code == "ambiguous"  # two of them on one line
        return
    after = there.contents["program.py"]
    # A member that is reached in a way that is not evident is said, and then it may well be missed.
    if not there.references.likely_lines:
        assert behaviour(after.decode()) == behaviour(program)
    try:
        back = plan_rename(RenameRequest("fresh", name, "program.py", line), project_of({"program.py": after}))
    except Refusal as refusal:
        assert refusal.code == "name_taken", refusal.message  # a class body that reads past a function around it
        assert "class " in program
        assert "def " in program
        return
    assert back.contents["program.py"] == content
