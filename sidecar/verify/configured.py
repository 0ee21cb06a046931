"""The checks that a workspace names itself, in `.brain/verify.toml`: read only if the person trusts the workspace.

    commands = ["make check", "npm run lint"]

Trust is bound to what stands there: if the file changes, by whomever, nothing of it counts until the person has said so
again.
"""

import logging
import os
import stat
from pathlib import Path

log = logging.getLogger(__name__)

FILE = ".brain/verify.toml"
_SIZE = 64 * 1024


def configured(workspace: str) -> list[str] | None:
    """The commands; nothing if there is no such file, or none that can be used."""
    file = Path(workspace) / FILE
    try:
        opened = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return None
        text = os.read(opened, _SIZE)
    except OSError:
        return None
    finally:
        os.close(opened)
    import tomllib

    try:
        commands = tomllib.loads(text.decode()).get("commands")
        if not isinstance(commands, list) or not all(isinstance(each, str) and each.strip() for each in commands):
            raise ValueError("commands is a list of command lines")
    except ValueError as error:
        log.warning("%s is not used: %s", file, error)
        return None
    return commands or None
