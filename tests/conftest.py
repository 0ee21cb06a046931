"""Fixtures of all tests."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.servers import Postgres, Redis

# A busy machine is slow at everything, also at making up examples.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.fixture(scope="session", autouse=True)
def machine_python() -> Iterator[None]:
    """A `python3` with pytest, first on the PATH: the Python of this machine, for projects without one of their own.

    The machine's real one may lack pytest, and the sidecar's own is never used for a project. It is in the test
    environment's folder, which a sandbox can read. It loads none of our plug-ins for pytest but `xdist`: they take a
    second at each start.
    """
    folder = Path(sys.prefix) / "share" / "machine-python"
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / f"python3.{os.getpid()}"
    alone = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTEST_PLUGINS=xdist.plugin"
    script.write_text(f'#!/bin/sh\n{alone} exec {sys.executable} "$@"\n')
    script.chmod(0o755)
    script.replace(folder / "python3")
    before = os.environ["PATH"]
    os.environ["PATH"] = os.pathsep.join((str(folder), before))
    yield
    os.environ["PATH"] = before


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server for all tests of this process; each test has its own schema."""
    server = Postgres()
    yield server
    server.close()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[Redis]:
    server = Redis()
    yield server
    server.close()
