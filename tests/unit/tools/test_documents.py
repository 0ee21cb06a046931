"""README and changelog from code and commits: what is between marks is kept up to date, the rest is left alone."""

import subprocess

from tests.unit.tools.workbench import Workbench
from tools.ledger import Outcome

GIT = ("git", "-c", "user.name=x", "-c", "user.email=x@x", "-c", "init.defaultBranch=main")


def git(bench: Workbench, *words: str) -> None:
    subprocess.run([*GIT, *words], cwd=bench.workspace, check=True, capture_output=True, timeout=30)


def changed(outcome: Outcome) -> list[tuple[object, object]]:
    assert isinstance(outcome.details, dict) and isinstance(outcome.details["files"], list)
    return [(file["path"], file["change"]) for file in outcome.details["files"] if isinstance(file, dict)]


def project(bench: Workbench) -> None:
    bench.write(
        "pyproject.toml", '[project]\nname = "cart"\ndescription = "Counts things."\n[tool.pytest.ini_options]\n'
    )
    bench.write("src/cart/__init__.py", '"""A cart."""\n')
    bench.write(
        "src/cart/sums.py", 'def total(prices: list[int]) -> int:\n    """Add them up. And more."""\n    return 0\n'
    )
    bench.write("src/cart/_own.py", "def hidden():\n    pass\n")
    bench.write("tests/test_cart.py", "def test_it():\n    pass\n")


async def test_a_readme_is_made_from_what_the_code_says(bench: Workbench) -> None:
    project(bench)

    outcome = await bench.call("update_readme")

    text = bench.read("README.md").decode()
    assert outcome.status == "success" and text.startswith("# cart\n\nCounts things.\n")
    assert "python3 -m pip install -e ." in text
    assert "| `total(prices: list[int]) -> int` | `src/cart/sums.py` | Add them up. |" in text
    assert "hidden" not in text and "test_it" not in text
    assert "```sh\npython3 -m pytest\n```" in text
    assert changed(outcome) == [("README.md", "created")], "who watches is told which file changed"


async def test_what_a_person_wrote_is_left_alone_and_what_is_marked_is_refreshed(bench: Workbench) -> None:
    project(bench)
    own = "# Cart\r\n\r\nMine.\r\n\r\n## Installation\r\n\r\nBy hand.\r\n"
    bench.write("README.md", own)

    first = await bench.call("update_readme", sections=["installation", "api"])
    assert "Left alone, because you wrote them yourself: Installation." in first.content
    text = bench.read("README.md").decode()
    assert text.startswith(own) and "pip install" not in text
    assert "\n" not in text.replace("\r\n", ""), "line endings are kept"

    bench.write("src/cart/sums.py", "def added(x):\n    return x\n")
    bench.write("README.md", text + "\r\nThe end.\r\n")
    second = await bench.call("update_readme", sections=["api"])
    newer = bench.read("README.md").decode()
    assert "API: refreshed" in second.content
    assert newer.startswith(own) and newer.endswith("\r\nThe end.\r\n")
    assert "added(x)" in newer and "total" not in newer
    assert (await bench.call("update_readme", sections=["api"])).content.startswith("README.md is up to date")


async def test_a_changelog_has_the_commits_since_the_last_tag_in_groups(bench: Workbench) -> None:
    git(bench, "init", "-q")
    for name, tag in (("first", "v1"), ("feat: add carts", ""), ("fix(sums)!: count right", ""), ("Fix typo", "")):
        bench.write("a.txt", name)
        git(bench, "add", ".")
        git(bench, "commit", "-qm", name)
        if tag:
            git(bench, "tag", tag)
    bench.write("CHANGELOG.md", "# Changelog\n\nAll of it.\n\n## 1.0\n\n- Begun\n")

    outcome = await bench.call("update_changelog")

    text = bench.read("CHANGELOG.md").decode()
    assert "from 3 commits since v1" in outcome.content
    assert changed(outcome) == [("CHANGELOG.md", "modified")]
    assert text.startswith(
        "# Changelog\n\nAll of it.\n\n<!-- brain:changelog -->\n## Unreleased\n\n### Breaking\n\n- Count right"
    )
    assert "### Added\n\n- Add carts" in text and "### Fixed\n\n- Fix typo" in text
    assert text.endswith("## 1.0\n\n- Begun\n") and "first" not in text
    again = await bench.call("update_changelog")
    assert again.status == "error" and "up to date" in again.content


async def test_no_repository_and_no_commits_are_said_so(bench: Workbench) -> None:
    outcome = await bench.call("update_changelog")
    assert outcome.error is not None and outcome.error.code == "no_git"
    assert not (bench.workspace / "CHANGELOG.md").exists()
