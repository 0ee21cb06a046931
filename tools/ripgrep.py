"""Runs `rg`, which is installed next to the Python interpreter, and says what it leaves out."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.errors import CommandMissing, InvalidArguments, TimedOut, ToolError
from tools.host import Host, OutputCollector
from tools.skipped import skip_globs
from tools.spec import Call

_OUTPUT = 32 << 20


def ripgrep() -> str:
    own = Path(sys.executable).with_name("rg.exe" if sys.platform == "win32" else "rg")
    if own.exists():
        return str(own)
    found = shutil.which("rg")
    if found is None:
        raise CommandMissing("ripgrep (rg) is not installed. Run `make setup`, or install ripgrep.")
    return found


def ripgrep_command(folder: str = ".", named: str = "") -> list[str]:
    """The start of a command that skips ignored files, installed packages, build output and caches.

    `folder` is where it runs; paths that the pattern `named` names are not skipped.
    """
    return [ripgrep(), "--no-config", "--no-require-git", *skip_globs(folder, named)]


async def run_ripgrep(
    host: Host, call: Call, options: Sequence[str], path: str = ".", *, named: str = "", limit: int = _OUTPUT
) -> str:
    """What rg prints below a folder, up to `limit` bytes."""
    collector = OutputCollector(limit)
    result = await host.run(
        [*ripgrep_command(path, named), "--color=never", *options],
        call_id=call.id,
        cwd=path,
        timeout=call.timeout,
        output=collector,
        killed=call.killed,
        log=False,
    )
    if result.timed_out:
        raise TimedOut(f"The search took longer than {call.timeout:g} s.", advice="Pass a smaller path.")
    if _has_failed(result.exit_code, collector.text, collector.errors):
        raise _failure(collector.errors.strip()[:1_000])
    return collector.text


def only(globs: Sequence[str]) -> list[str]:
    """Select files by type: a plain glob would override .gitignore."""
    return [*(f"--type-add=wanted:{glob}" for glob in globs), "--type=wanted"]


def _has_failed(exit_code: int | None, text: str, errors: str) -> bool:
    """Whether rg could not search at all. Its exit code alone also tells of single files that it can't open."""
    if exit_code in (0, 1) or text:
        return False
    complaints = [line for line in errors.splitlines() if line.startswith("rg: ")]
    return exit_code != 2 or not all("(os error " in line for line in complaints)


def _failure(text: str) -> ToolError:
    if "regex parse error" in text or "error parsing glob" in text:
        return InvalidArguments(text, advice="Correct the pattern, or search literally without regex.")
    return ToolError(f"The search failed: {text}", code="search_failed")
