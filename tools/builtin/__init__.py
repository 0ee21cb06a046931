"""The built-in tools, one per file. Each is imported on first use."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from tools.spec import AnyTool

_NAMES = """
read_file read_files list_dir read_directory_tree find_files search_code get_workspace_info
write_file create_file edit_file multi_edit apply_patch move_file delete_file
rename_symbol organize_imports move_symbol
run_command command_output stop_command run_tests
git_status git_diff git_log git_show git_blame git_add git_commit
get_diagnostics analyze_code find_symbols describe_symbol find_usages describe_file describe_project
review_changes find_commands
todo delegate fetch_url set_mode
"""


def _loader(name: str) -> Callable[[], AnyTool]:
    def load() -> AnyTool:
        module = import_module(f"tools.builtin.{name}")
        tool: AnyTool = getattr(module, name.title().replace("_", ""))()
        return tool

    return load


LOADERS = {name: _loader(name) for name in _NAMES.split()}
#: What models see of them, by name: generated, because describing all of them takes longer than a first task may wait.
OFFERS = Path(__file__).with_name("offers.json")
