"""Unit tests start no process: a test that needs one belongs to tests/contract or tests/e2e."""

import os
import subprocess
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

from tests.support.scratch_journal import closed_journals  # noqa: F401


@pytest.fixture(autouse=True)
def no_processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    started: list[tuple[object, ...]] = []

    def refuse(*arguments: Any, **_: Any) -> NoReturn:
        started.append(arguments)
        raise AssertionError("a unit test starts no process")

    monkeypatch.setattr(subprocess.Popen, "__init__", refuse)
    monkeypatch.setattr(os, "fork", refuse)
    monkeypatch.setattr(os, "posix_spawn", refuse)
    yield
    # The code under test may have turned the error into a result, so that the test passes all the same.
    assert not started, f"move this test to tests/contract or tests/e2e: it starts {started[0][1:]}"
