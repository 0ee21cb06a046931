"""Contents that Git keeps, asked for by their names. Only Git's plumbing is run, and nothing of a repository's own."""

import os
import subprocess
from collections.abc import Sequence

_SECONDS = 20.0
_QUIET = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    # A clone that lacks an object must not go and fetch it.
    "-c",
    "protocol.allow=never",
    "--no-pager",
    "--no-replace-objects",
)
_ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0"}


def read_objects(git_dir: str, names: Sequence[bytes]) -> dict[bytes, bytes]:
    """Those of the contents that are there; none if Git is missing or does not answer."""
    if not names:
        return {}
    asked = b"".join(name.hex().encode() + b"\n" for name in names)
    environment = {"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT}
    try:
        done = subprocess.run(
            ["git", *_QUIET, f"--git-dir={git_dir}", "cat-file", "--batch"],
            input=asked,
            capture_output=True,
            timeout=_SECONDS,
            env=environment,
            start_new_session=True,
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    return _answers(done.stdout, names)


def _answers(output: bytes, names: Sequence[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    place = 0
    for name in names:
        end = output.find(b"\n", place)
        if end < 0:
            break
        words = output[place:end].split(b" ")
        place = end + 1
        if len(words) != 3 or words[1] != b"blob":
            if len(words) == 3:
                place += int(words[2]) + 1
            continue
        size = int(words[2])
        content = output[place : place + size]
        place += size + 1
        if len(content) == size:
            found[name] = content
    return found
