"""What the Git tools share: arguments that are no options, and Git's output or its error. The host runs Git."""

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field

from tools.errors import InvalidArguments, TimedOut, ToolError
from tools.host import Host, OutputCollector
from tools.spec import Call
from tools.text import first_words

_COMMIT = re.compile(r"[0-9a-f]{40,64}")
_MAX_REFS = 1 << 20


def _reference(text: str) -> str:
    if text.startswith("-") or re.search(r"[\s\0-\x1f\x7f]", text):
        raise ValueError("must not begin with a dash or contain spaces")
    return text


def _path(text: str) -> str:
    if text.startswith("-"):
        raise ValueError("must not begin with a dash; write ./ before it")
    return text


Reference = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_reference)]
GitPath = Annotated[str, Field(min_length=1, max_length=4_096), AfterValidator(_path)]


async def run_git(host: Host, call: Call, words: Sequence[str]) -> str:
    """The output of a Git command; raises its error message if it fails."""
    collector = OutputCollector()
    result = await host.git(words, call_id=call.id, timeout=call.timeout, output=collector, killed=call.killed)
    if result.timed_out:
        raise TimedOut(f"git {words[0]} took longer than {call.timeout:g} s.", advice="Ask for less.")
    if result.exit_code != 0 and not collector.cut:
        raise _failure(words[0], f"{collector.errors}\n{collector.text}".strip())
    return collector.text


def commit_of(ref: str) -> str:
    """A ref that can only be a commit: the name of a blob would show a file without its path."""
    if ":" in ref:
        return ref
    first, dots, last = ref.partition("..." if "..." in ref else "..")
    return dots.join(f"{each}^{{commit}}" if each else "" for each in (first, last)) if dots else f"{ref}^{{commit}}"


def path_in_ref(ref: str | None) -> tuple[str, ...]:
    """The path that a ref such as HEAD:src/main.py names."""
    return (ref.replace(":", "/"),) if ref and ":" in ref else ()


async def current_branch(host: Host) -> str | None:
    try:
        head = (await host.read(".git/HEAD", 1_000)).decode("utf-8", "replace").strip()
    except ToolError:
        return None
    return head.removeprefix("ref: refs/heads/")


async def read_head(host: Host) -> str | None:
    """The commit of HEAD, read without starting Git: empty if there is none, `None` if the files don't say."""
    try:
        head = (await host.read(".git/HEAD", 1_000)).decode("ascii", "replace").strip()
    except ToolError:
        return None
    if _COMMIT.fullmatch(head):
        return head
    name = head.removeprefix("ref: ")
    if name == head or ".." in name or name == "refs/heads/.invalid":
        return None  # not a branch, or another way of storing them
    try:
        found = (await host.read(f".git/{name}", 1_000)).decode("ascii", "replace").strip()
        return found if _COMMIT.fullmatch(found) else None
    except ToolError:
        pass
    try:
        packed = await host.read(".git/packed-refs", _MAX_REFS)
    except ToolError:
        return ""
    match = re.search(rb"^([0-9a-f]{40,64}) " + re.escape(name.encode()) + rb"$", packed, re.MULTILINE)
    return match[1].decode() if match else "" if len(packed) < _MAX_REFS else None


def _failure(command: str, text: str) -> ToolError:
    if "unknown revision" in text or "bad revision" in text or "bad object" in text:
        return InvalidArguments(first_words(text, 500), advice="Look up refs with git_log.")
    return ToolError(f"git {command} failed: {first_words(text, 2_000)}", code="git_failed")
