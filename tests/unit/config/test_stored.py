"""What one process decides, another with the same data directory knows at once."""

from pathlib import Path

from sidecar.config.approvals import StandingApprovals
from sidecar.config.data_dir import DataDir
from sidecar.config.grants import Grants
from sidecar.config.tokens import Tokens
from sidecar.config.trust import Trust


def test_a_worker_knows_what_another_process_trusts_grants_approves_and_revokes(tmp_path: Path) -> None:
    data, place = DataDir(tmp_path / "data"), str(tmp_path)
    data.prepare()
    trusts, grants = [Trust(data), Trust(data)], [Grants(data.path), Grants(data.path)]
    approvals, tokens = [StandingApprovals(data), StandingApprovals(data)], [Tokens(data.path), Tokens(data.path)]

    trusts[0].set(place, trusted=True)
    grant = grants[0].add(place, "command", "make release")
    approvals[0].add(place, "b", "run", None, None)
    token = tokens[0].add("alice", "work")
    assert trusts[1].trusted(place)
    assert grants[1].permissions(place).commands == {"make release"}
    assert approvals[1].allows(place, "b")
    named = tokens[1].find(token)
    assert named is not None and (named.name, named.role) == ("alice", "work")

    trusts[1].set(place, trusted=False)
    assert grants[1].revoke(grant.id)
    assert approvals[1].revoke(approvals[1].all()[0].id)
    assert tokens[1].remove("alice")
    assert not trusts[0].trusted(place)
    assert not grants[0].permissions(place).commands
    assert not approvals[0].allows(place, "b")
    assert tokens[0].find(token) is None


def test_a_damaged_file_permits_nothing(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    token = tokens.add("alice", "decide")
    (tmp_path / "tokens.json").write_text("[{")
    assert tokens.find(token) is None
