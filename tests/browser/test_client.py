"""The frontend's checks and unit tests, and the code of its READMEs against a real sidecar."""

import subprocess

import pytest

from tests.browser.conftest import PROJECT, Node


@pytest.mark.timeout(200)
def test_the_code_of_the_readme_runs(node: Node) -> None:
    assert "completed" in node("readme.mjs")


@pytest.mark.timeout(300)
def test_a_project_outside_uses_the_packed_client(node: Node) -> None:
    assert "completed" in node("outside.mjs", seconds=280)


@pytest.mark.timeout(200)
@pytest.mark.parametrize("command", ["check", "test"])
def test_the_frontend_passes_its_own_checks(command: str, node: Node) -> None:
    done = subprocess.run(
        ["npm", "run", "--silent", command], cwd=PROJECT / "frontend", capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 0, done.stdout + done.stderr
