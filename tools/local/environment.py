"""The environment of a command: what programs need to work, none of your keys, and the project's own programs first.

It is the same for each command, whatever an earlier one exported. Two marks let a later process find leftovers.
"""

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from tools.environments import ProjectEnvironment, without_own_environment

CALL_MARK = "BRAIN_CALL_ID"
SIDECAR_MARK = "BRAIN_SIDECAR"
#: For a process of ours that can't write in a workspace.
READER_MARK = "BRAIN_READER"

_PASSED_NAMES = """
PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TEMP TMP SYSTEMROOT COMSPEC PATHEXT XDG_CACHE_HOME XDG_CONFIG_HOME
XDG_DATA_HOME XDG_RUNTIME_DIR VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT NVM_DIR NVM_BIN FNM_DIR VOLTA_HOME PNPM_HOME
BUN_INSTALL JAVA_HOME GOPATH GOROOT GOCACHE GOMODCACHE CARGO_HOME RUSTUP_HOME RBENV_ROOT ASDF_DIR ASDF_DATA_DIR
SDKROOT DEVELOPER_DIR SSL_CERT_FILE SSL_CERT_DIR NIX_PATH NIX_PROFILES LD_LIBRARY_PATH
"""
_PASSED = frozenset(_PASSED_NAMES.split())
FIXED_VARIABLES = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "PYTHONUNBUFFERED": "1",
    "DEBIAN_FRONTEND": "noninteractive",
}
_PLAIN = re.compile(r"[A-Za-z0-9_.:-]{1,200}\Z")


def sidecar_mark(data_dir: Path) -> str:
    return hashlib.sha256(os.fsencode(os.path.realpath(data_dir))).hexdigest()[:16]


def call_mark(call_id: str) -> str:
    """A call's id, safe for an environment and a file name."""
    if _PLAIN.match(call_id):
        return call_id
    return hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()


def command_environment(
    call_id: str, mark: str, cwd: str, extra: Mapping[str, str] | None, project: ProjectEnvironment | None = None
) -> dict[str, str]:
    """With `project`, its programs come first on the PATH; the sidecar's own environment is never on it."""
    # Each value is decoded when it is asked for.
    passed = {name: os.environ[name] for name in os.environ if name in _PASSED or name.startswith("LC_")}
    found = {"PATH": os.defpath, **without_own_environment(passed), **FIXED_VARIABLES}
    if project is not None and project.folders:
        found |= {"PATH": os.pathsep.join([*project.folders, found["PATH"]]), **project.variables}
    marks = {CALL_MARK: call_mark(call_id), SIDECAR_MARK: mark}
    return {**found, **(extra or {}), "PWD": cwd, **marks}
