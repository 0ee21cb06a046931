"""The sidecar with a tool that freezes it: list_dir of `freeze` runs a regular expression that never ends.

Run in place of `sidecar`. Such an expression also keeps every other thread of Python from running.
"""

import re
import sys

from sidecar.cli import main
from tools.builtin.list_dir import ListDir
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult

_run = ListDir.run


async def freeze(self: ListDir, args: Arguments, host: Host, call: Call, output: Output) -> ToolResult:
    if getattr(args, "path", "") == "freeze":
        re.match(r"(a+)+$", "a" * 200 + "b")
    return await _run(self, args, host, call, output)  # type: ignore[arg-type]


if __name__ == "__main__":
    ListDir.run = freeze  # type: ignore[assignment,method-assign]
    sys.exit(main())
