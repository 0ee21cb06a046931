"""The learned tables: words of descriptions and names, and wishes told from descriptions."""

import pytest

from sidecar.memory.tokens import parts_of
from sidecar.memory.translations import UNEXPLAINED, Translations, translations
from sidecar.memory.wishes import wish
from sidecar.memory.word_weights import UNKNOWN, share_of


def evidence_for(name: str, description: str) -> float:
    known = translations().evidence(part for word in description.split() for part in parts_of(word))
    return sum(known.get(part, UNEXPLAINED) for part in parts_of(name))


@pytest.mark.parametrize(
    ("description", "name", "other"),
    [
        ("Retrieve the directory of the project", "get_project_dir", "set_project_name"),
        ("Check whether the given path is absolute", "is_absolute", "normalize"),
        ("Convert the number into a string", "numberToString", "splitLines"),
        ("Return a new empty frobnicator", "new_frobnicator", "new_parser"),
    ],
)
def test_a_description_makes_its_own_name_likelier_than_another(description: str, name: str, other: str) -> None:
    assert evidence_for(name, description) > evidence_for(other, description)


def test_a_common_part_of_names_says_less_than_a_rare_one() -> None:
    table = Translations({"fetch": {"get": 0.5, "pull": 0.5}}, {"get": 0.1, "pull": 0.001})
    found = table.evidence(["fetch"])
    assert found["pull"] > found["get"] > 0


def test_no_words_explain_nothing() -> None:
    assert translations().evidence([]) == {}


@pytest.mark.parametrize(
    "text",
    [
        "Fix crash when no config",
        "Add support for sockets",
        "don't warn on empty input",
        "Rename the flag of the build command",
    ],
)
def test_a_wish_is_distinguished_from_a_description(text: str) -> None:
    assert wish(text) > 0.6


@pytest.mark.parametrize(
    "text",
    ["Returns the path of a given file", "Check whether this is a directory or a link", "Removes given node in tree"],
)
def test_a_description_is_distinguished_from_a_wish(text: str) -> None:
    assert wish(text) < 0.3


@pytest.mark.parametrize("text", ["", "?!", "é", "a" * 10_000, "the " * 10_000])
def test_any_text_gives_a_share(text: str) -> None:
    assert 0 <= wish(text) <= 1


def test_a_word_of_every_commit_counts_for_less_than_one_of_the_code() -> None:
    assert share_of("fix", 1.0) < 0.2 < 0.7 < share_of("symlink", 1.0)


def test_an_unknown_word_counts_for_much() -> None:
    assert share_of("frobnicator", 0.5) == UNKNOWN
