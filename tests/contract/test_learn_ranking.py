"""Learning how to rank: questions from a repository, shares of words, and weights that put the right files first."""

import importlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

from sidecar.memory import ranking, wishes, word_weights

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"
#: One file a topic, each with a documented function.
TOPICS = ("socket", "archive", "calendar", "palette", "ledger", "voyage")


@pytest.fixture
def learner(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(PACKAGING))
    return importlib.import_module("learn_ranking")


@pytest.fixture
def own_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tables of their own, so that a test doesn't write those of the product."""
    read = {word_weights: word_weights.shares, wishes: wishes.weights, ranking: ranking.weights}
    for module, table in read.items():
        copy = tmp_path / module.TABLE.name
        copy.write_bytes(module.TABLE.read_bytes())
        monkeypatch.setattr(module, "TABLE", copy)
        table.cache_clear()
    yield
    for table in read.values():
        table.cache_clear()


def git(root: Path, *words: str) -> None:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *settings, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Commits before and after the middle of the history; each changes the file of one topic."""
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q")
    for number, topic in enumerate(TOPICS):
        code = [f"def start_{number}(value):", f'    """Prepare everything about one {topic} for later use."""']
        code += [f"    {topic}_{line} = value + {line}" for line in range(40)]
        (root / f"part_{number}.py").write_text("\n".join([*code, f"    return {topic}_1", ""]))
    (root / "test_parts.py").write_text("def test_nothing(): ...\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Start the project")
    for turn in range(4):
        for number, topic in enumerate(TOPICS):
            with (root / f"part_{number}.py").open("a") as file:
                file.write(f"# {turn}\n")
            git(root, "commit", "-qam", f"fix: Fix broken {topic} handling again (#{turn})")
    return root


def test_a_commit_asks_for_the_files_that_it_changed(learner: Any, repository: Path, tmp_path: Path) -> None:
    questions = importlib.import_module("ranking_questions")
    changes, _ = questions.prepare(repository, tmp_path / "work")
    assert {(each.text, *each.files) for each in changes} == {
        (f"Fix broken {topic} handling again", f"part_{number}.py") for number, topic in enumerate(TOPICS)
    }
    history = subprocess.run(
        ["git", "log", "--format=%s"], cwd=tmp_path / "work/plain", capture_output=True, text=True, check=True
    )
    assert len(history.stdout.splitlines()) == 13  # nothing of the later half


def test_documentation_asks_for_its_function_and_is_removed(learner: Any, repository: Path, tmp_path: Path) -> None:
    questions = importlib.import_module("ranking_questions")
    _, descriptions = questions.prepare(repository, tmp_path / "work")
    assert {each.symbol for each in descriptions} == {f"start_{number}" for number in range(len(TOPICS))}
    for number in range(len(TOPICS)):
        before = (tmp_path / f"work/plain/part_{number}.py").read_text().split("\n")
        after = (tmp_path / f"work/nodoc/part_{number}.py").read_text().split("\n")
        assert after == [before[0], "", *before[2:]]


def test_a_word_that_every_commit_says_counts_for_less_than_a_topic(learner: Any, repository: Path) -> None:
    words = importlib.import_module("ranking_words")
    counts = words.count_changes(repository, repository)
    assert "broken" not in counts  # no file holds it
    (repository / "part_0.py").write_text("broken = socket = 1\n")
    counts = words.count_changes(repository, repository)
    found = words.shares([counts] * words.REPOSITORIES)
    assert found["socket"] > 0.8 > 0.3 > found["broken"]


def test_a_word_of_commits_tells_a_wish_and_one_of_documentation_a_description(learner: Any, tmp_path: Path) -> None:
    learn = importlib.import_module("ranking_wishes")
    texts = learn.Texts(
        [f"Mend broken topic {each}" for each in range(40)], [f"Gives one topic, if {each}" for each in range(40)]
    )
    weights = learn.learn([texts])
    assert weights[wishes.Feature("mend", first=True)] > 0.5 > -0.5 > weights[wishes.Feature("if", first=False)]
    assert weights[wishes.Feature(wishes.ANY, first=True)] < -0.5  # the third person
    assert abs(weights[wishes.Feature("topic", first=False)]) < 0.5
    learn.write(tmp_path / "wishes.tsv", weights)
    assert "\nif 0.00 -" in (tmp_path / "wishes.tsv").read_text()


def test_texts_of_a_repository_are_its_subjects_and_its_documentation(learner: Any, repository: Path) -> None:
    texts = importlib.import_module("ranking_wishes").read_texts(repository, repository)
    assert set(texts.wishes) == {f"Fix broken {topic} handling again" for topic in TOPICS}
    assert set(texts.descriptions) == {f"Prepare everything about one {topic} for later use" for topic in TOPICS}


def asked(learner: Any, right: int, *, change: bool = True) -> Any:
    """Of eight files with two chunks each, one is right: the first feature of its first chunk says so."""
    places = numpy.arange(16)
    here = places == 2 * right
    rows = numpy.stack([here, numpy.ones(16), numpy.full(16, 0.5)], axis=1)
    return learner.Asked("one", change, float(change), 1, rows, places // 2, places // 2 == right if change else here)


def test_the_feature_of_the_right_file_gets_the_weight(learner: Any) -> None:
    names = ["file one", "file two", "chunk exact"]
    weights = learner.learn([asked(learner, number % 8) for number in range(64)], names)
    assert weights[0] > 1 > abs(weights[1])
    assert weights[2] == pytest.approx(ranking.FIXED["chunk exact"])
    assert learner.score(asked(learner, 7), weights) == (1.0, 1.0)
    assert learner.score(asked(learner, 7), numpy.zeros(3)) == (0.0, 1.0)


def test_a_function_counts_as_itself_and_a_file_as_its_best_chunk(learner: Any) -> None:
    backwards = numpy.asarray([-1.0, 0.0, 0.0])
    assert learner.score(asked(learner, 3, change=False), backwards) == (0.0, 0.0)  # the last of sixteen chunks
    assert learner.score(asked(learner, 3), numpy.asarray([1.0, 0.0, 0.0])) == (1.0, 1.0)


def test_history_counts_half_for_descriptions(learner: Any) -> None:
    """They are asked where there is no history."""
    names = ["file history", "file two", "chunk exact"]
    questions = [asked(learner, number % 8, change=change) for number in range(64) for change in (True, False)]
    weights = learner.learn_both(questions, names)
    assert weights.description[0] == pytest.approx(weights.change[0] / 2)
    assert weights.blend(1.0)[0] == pytest.approx(weights.change[0])


def test_everything_learned_is_read_by_the_search(
    learner: Any, repository: Path, tmp_path: Path, own_tables: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert learner.main([str(tmp_path / "work"), str(repository)]) == 0
    assert '"changes"' in capsys.readouterr().out
    ranking.weights.cache_clear()
    learned = ranking.weights()
    assert learned["chunk"]["exact"] == (0.8, 0.8)
    assert learned["file"]["test"] == (-2.0, -2.0)
    assert len(learned["file"]) + len(learned["chunk"]) > 20
