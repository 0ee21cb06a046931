"""Worktrees of hostile repositories: making, comparing and removing one runs nothing and writes nowhere else."""

import os
from pathlib import Path

import pytest

from tests.security.git_corpus import git
from tools.errors import ToolError
from tools.local.repository.worktree import GitWorktrees
from tools.local.sandbox.probe import Sandboxes

SANDBOXES = Sandboxes("auto")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    place = tmp_path / "repository"
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    (place / "a.txt").write_text("a\n")
    git(place, "add", ".")
    git(place, "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "first")
    return place


def worktrees(tmp_path: Path, *, trusted: bool = False) -> GitWorktrees:
    return GitWorktrees(tmp_path / "data/worktrees", tmp_path / "data", SANDBOXES, lambda workspace: trusted)


def test_s32_hooks_and_programs_of_the_configuration_do_not_run_for_a_worktree(
    repository: Path, tmp_path: Path
) -> None:
    canary = tmp_path / "ran"
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        hook = repository / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {canary}\n")
        hook.chmod(0o755)
    with (repository / ".git/config").open("a") as config:
        config.write(f"[core]\n\tfsmonitor = touch {canary}\n\tpager = touch {canary}\n")
    made = worktrees(tmp_path)
    made.create("t_1", str(repository))
    (Path(made.tree("t_1")) / "a.txt").write_text("b\n")
    assert [each.path for each in made.changed("t_1")] == ["a.txt"]
    made.remove("t_1", str(repository))
    assert not canary.exists()


def test_s32_filters_of_an_untrusted_repository_refuse_the_worktree(repository: Path, tmp_path: Path) -> None:
    canary = tmp_path / "ran"
    (repository / ".gitattributes").write_text("*.txt filter=evil\n")
    with (repository / ".git/config").open("a") as config:
        config.write(f'[filter "evil"]\n\tsmudge = touch {canary}\n\tclean = touch {canary}\n')
    made = worktrees(tmp_path)
    with pytest.raises(ToolError, match="filter evil"):
        made.create("t_1", str(repository))
    assert not canary.exists() and not made.names() and not (repository / ".git/worktrees").exists()


def test_s09_a_link_in_place_of_the_list_of_worktrees_is_not_followed(repository: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "brain-t_1").mkdir(parents=True)
    (outside / "brain-t_1/kept").touch()
    (repository / ".git/worktrees").symlink_to(outside)
    made = worktrees(tmp_path)
    with pytest.raises(ToolError):
        made.create("t_1", str(repository))
    made.remove("t_1", str(repository))
    assert os.listdir(outside) == ["brain-t_1"] and os.listdir(outside / "brain-t_1") == ["kept"]  # noqa: PTH208


def test_s09_uncommitted_links_are_carried_as_links_and_the_sidecars_own_files_are_not(
    repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("secret")
    (repository / "link").symlink_to(tmp_path / "key")
    (repository / "folder").symlink_to(tmp_path)
    inside = GitWorktrees(repository / "data/worktrees", repository / "data", SANDBOXES)
    (repository / "data").mkdir()
    (repository / "data/token").write_text("token")
    base = inside.create("t_1", str(repository))
    tree = Path(inside.tree("t_1"))
    assert (tree / "link").is_symlink() and (tree / "folder").is_symlink()
    assert not (tree / "data/token").exists() and "data/token" in base.left_out


def test_an_interrupted_worktree_is_made_anew_and_a_foreign_entry_stays(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", "-b", "yours", str(tmp_path / "yours"))
    made = worktrees(tmp_path)
    made.create("t_1", str(repository))
    # As a kill leaves it: begun and never completed.
    (tmp_path / "data/worktrees/t_1/base.json").unlink()
    assert made.base("t_1") is None
    made.create("t_1", str(repository))
    assert made.base("t_1") is not None and not made.changed("t_1")
    made.remove("t_1", str(repository))
    assert "yours" in git(repository, "worktree", "list") and git(tmp_path / "yours", "status", "--porcelain") == ""
