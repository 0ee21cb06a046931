"""The client library: its own tests, its types, and the code of its README against a real sidecar."""

import subprocess

import pytest

from tests.browser.conftest import PROJECT, Node


@pytest.mark.timeout(200)
def test_the_code_of_the_readme_runs(node: Node) -> None:
    assert "completed" in node("readme.mjs")


@pytest.mark.timeout(200)
@pytest.mark.parametrize("command", ["check", "test"])
def test_the_frontend_holds_its_own_rules(command: str, node: Node) -> None:
    told = subprocess.run(
        ["npm", "run", "--silent", command], cwd=PROJECT / "frontend", capture_output=True, text=True, timeout=180
    )
    assert told.returncode == 0, told.stdout + told.stderr
