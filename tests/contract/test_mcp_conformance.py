"""The official conformance suite against our client and our server, in both eras of the specification.

`mcp_conformance.toml` says which scenarios we run and why we leave others out. Without `BRAIN_CONFORMANCE=full` (`make
conformance`) only a few of each kind run.
"""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.support import PROJECT, running_sidecar
from tests.support.mcp import packages

pytest.importorskip("mcp", reason="the package mcp is not installed")

ERAS = ("2025-11-25", "2026-07-28")
TABLE: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("mcp_conformance.toml").read_text())
FULL = os.environ.get("BRAIN_CONFORMANCE") == "full"


def every(side: str) -> list[str]:
    """`scenario@era` for everything that the table runs."""
    table = TABLE[side]
    return [f"{scenario}@{era}" for era in ERAS for scenario in (*table["both"], *table[era])]


def chosen(side: str) -> list[str]:
    short: list[str] = TABLE[side]["short"]
    return every(side) if FULL else short


@pytest.fixture(scope="module")
def suite() -> list[str]:
    place = packages.npm(packages.CONFORMANCE)
    program = place / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    return [packages.node("24"), str(program)]


def start(suite: list[str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    environ = {"PYTHONPATH": str(PROJECT), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": "/tmp"}
    return subprocess.run([*suite, *arguments], capture_output=True, text=True, timeout=240, cwd=PROJECT, env=environ)


def check(suite: list[str], *arguments: str) -> None:
    result = start(suite, *arguments)
    assert result.returncode == 0, f"{result.stdout}{result.stderr}"[-4_000:]


@pytest.mark.parametrize("side", ["client", "server"])
def test_every_scenario_of_the_suite_is_run_or_left_out_for_a_reason(suite: list[str], side: str) -> None:
    listed = dict(re.findall(r"^  - (\S+) \[(.*)\]$", start(suite, "list", f"--{side}").stdout, re.MULTILINE))
    assert len(listed) > 40
    runs, excepted = set(every(side)), TABLE[side]["exceptions"]
    assert set(TABLE[side]["short"]) <= runs
    for name, eras in listed.items():
        run = {era for era in ERAS if f"{name}@{era}" in runs}
        if not run:
            assert [why for pattern, why in excepted.items() if fnmatch(name, pattern)], f"{name} is missing"
        else:
            assert run == set(eras.split(",")) & set(ERAS), f"{name} runs in {run}, but is for {eras}"
    assert {each.partition("@")[0] for each in runs} <= set(listed)
    unused = [pattern for pattern in excepted if not any(fnmatch(name, pattern) for name in listed)]
    assert not unused, "these exceptions fit no scenario any more"


@pytest.mark.parametrize("case", chosen("client"))
def test_our_client_passes(suite: list[str], case: str) -> None:
    scenario, _, era = case.partition("@")
    command = f"{sys.executable} -m tests.support.mcp.conformance_client"
    options = ("--scenario", scenario, "--spec-version", era, "--timeout", "120000")
    check(suite, "client", "--command", command, *options)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_sidecar(tmp_path_factory.mktemp("conformance")) as sidecar:
        command = [sys.executable, "-m", "tests.support.mcp.authorizing_proxy", sidecar.url, sidecar.token]
        proxy = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=PROJECT)
        try:
            assert proxy.stdout
            yield f"{proxy.stdout.readline().strip()}/mcp"
        finally:
            proxy.kill()
            proxy.communicate()


@pytest.mark.parametrize("case", chosen("server"))
def test_our_server_passes(suite: list[str], address: str, case: str) -> None:
    scenario, _, era = case.partition("@")
    check(suite, "server", "--url", address, "--scenario", scenario, "--spec-version", era)
