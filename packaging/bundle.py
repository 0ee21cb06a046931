"""The program of the PyInstaller bundle.

The sidecar starts its own helpers with `sys.executable`, which is this program here: `-m MODULE` and `-c CODE` work as
they do with the interpreter.
"""

import runpy
import sys


def main() -> int:
    arguments = sys.argv[1:]
    while arguments[:1] in (["-I"], ["-S"], ["-P"], ["-u"]):
        del arguments[0]
    if len(arguments) > 1 and arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return 0
    if len(arguments) > 1 and arguments[0] == "-c":
        sys.argv = ["-c", *arguments[2:]]
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
        return 0
    from sidecar.cli import main as brain

    return brain()


if __name__ == "__main__":
    sys.exit(main())
