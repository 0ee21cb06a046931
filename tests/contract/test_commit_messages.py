"""What the offline model says of a change in a commit: of a real repository, through the real tools."""

import subprocess
from pathlib import Path

import pytest

from sidecar.wire.tasks import Status
from tests.support.engine import engine_harness

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": "def load(path):\n    return open(path)\n\n\ndef total(cart):\n    return sum(load(cart))\n",
    "shop/page.py": "from shop.cart import load\n\n\ndef page():\n    return load('page')\n",
}


def shell(workspace: Path, command: str) -> str:
    done = subprocess.run(["/bin/sh", "-ec", command], cwd=workspace, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.mark.parametrize(
    ("done", "subject", "body"),
    [
        (
            r"sed -i 's/\bload\b/fetch/g' shop/*.py",
            "refactor(shop): rename load to fetch",
            ["- shop/cart.py: rename load to fetch", "- shop/page.py: use the new names"],
        ),
        (
            r"sed -i 's/\bload\b/fetch/g; s/sum(/max(/' shop/*.py",
            "change(shop): rename load to fetch, change total",
            ["- shop/cart.py: rename load to fetch; change total", "- shop/page.py: use the new names"],
        ),
        ("mv shop/page.py shop/site.py", "refactor(site): rename page.py to site.py", []),
        ("git mv shop/page.py shop/site.py", "refactor(site): rename page.py to site.py", []),
        ("mkdir web; mv shop/page.py web/", "refactor(page): move page.py to web/", []),
        (
            "mkdir web; mv shop/page.py web/; echo x > web/b.py",
            "feat: move page.py to web/, add web/",
            ["- web/: new folder", "- web/page.py: moved from shop/page.py"],
        ),
        ("git rm -q shop/page.py", "refactor(page): remove page.py", []),
        (
            "rm shop/page.py; seq 9 > shop/new.py",
            "feat(shop): add new.py, remove page.py",
            ["- shop/page.py: deleted", "- shop/new.py: new file"],
        ),
    ],
)
async def test_a_commit_says_what_was_renamed_moved_added_and_removed(
    done: str, subject: str, body: list[str], tmp_path: Path
) -> None:
    async with engine_harness(tmp_path) as harness:
        for path, text in FILES.items():
            (harness.workspace / path).parent.mkdir(exist_ok=True)
            (harness.workspace / path).write_text(text)
        shell(harness.workspace, "git init -q -b main; git config user.name A; git config user.email a@example.com")
        shell(harness.workspace, f"git add .; git commit -qm begin; {done}")
        suggested = await harness.ended(await harness.execute("suggest a commit message"))
        assert suggested.result is not None and f"```\n{subject}\n" in suggested.result.summary
        committed = await harness.ended(await harness.execute("commit my changes", approvals="auto"))
        assert committed.status is Status.COMPLETED, committed.error
        message = shell(harness.workspace, "git log -1 --format=%B").strip().splitlines()
        assert (message[0], message[2:]) == (subject, body)
        assert shell(harness.workspace, "git status --porcelain") == ""
