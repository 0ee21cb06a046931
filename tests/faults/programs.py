"""Programs that some fault tests need. They say which one is missing rather than pass without it."""

import ctypes.util
import shutil
from pathlib import Path

import pytest


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def faketime_library() -> str | None:
    places = [*Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), *Path("/opt").glob("*/lib/faketime/libfaketime*")]
    return str(places[0]) if places else ctypes.util.find_library("faketime")
