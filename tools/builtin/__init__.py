"""The tools that come with the product, one a file."""

from tools.builtin.list_dir import ListDir
from tools.builtin.read_file import ReadFile
from tools.builtin.run_command import RunCommand
from tools.builtin.run_tests import RunTests
from tools.builtin.search_code import SearchCode
from tools.builtin.write_file import WriteFile
from tools.spec import AnyTool


def all_tools() -> list[AnyTool]:
    return [
        ReadFile(),
        ListDir(),
        SearchCode(),
        WriteFile(),
        RunCommand(),
        RunTests(),
    ]
