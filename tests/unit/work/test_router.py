"""From a sentence to an intent."""

import re
from pathlib import Path

import pytest

from sidecar.wire.tasks import Options
from sidecar.work.customizations import CustomCommand
from sidecar.work.router import PIPELINES, request_of, route, unsure
from sidecar.work.routing.guess import GUESSED
from tests.sentences import all_sentences, labelled

README = Path(__file__).parents[3] / "README.md"


def test_sentences_that_it_has_never_seen_are_understood() -> None:
    right = total = 0
    for name, sentences in labelled("unseen"):
        understood = sum(route(sentence).intent == intent for intent, sentence in sentences)
        print(f"{name}: {understood} of {len(sentences)} unseen sentences, {understood / len(sentences):.1%}")
        assert understood / len(sentences) >= 0.95, name
        right, total = right + understood, total + len(sentences)
    print(f"all: {right} of {total}, {right / total:.1%}")
    assert right / total >= 0.97


def test_where_it_is_sure_it_is_right() -> None:
    answers = [(intent, route(sentence)) for intent, sentence in all_sentences("unseen")]
    sure = [(intent, answer) for intent, answer in answers if not unsure(answer)]
    assert len(sure) / len(answers) >= 0.95
    assert sum(answer.intent == intent for intent, answer in sure) / len(sure) >= 0.98


FIRST_SENTENCES = {
    "what does this project do?": "explain_code",
    "explain greet": "explain_code",
    "explain Markdown.parse": "explain_code",
    "explain Commit::push": "explain_code",
    "explain docs.build()": "explain_code",
    "what breaks if I change greet?": "explain_code",
    "rename greet to welcome": "refactor_code",
    "remove unused imports": "refactor_code",
    "review greeting.py": "review_code",
    "run the tests": "run_command",
    "suggest a commit message": "run_command",
    "what can you do?": "chat",
    "create a python package called textkit that shortens text": "create_project",
}


@pytest.mark.parametrize(("sentence", "intent"), FIRST_SENTENCES.items())
def test_the_first_sentences_that_people_try_are_routed_right(sentence: str, intent: str) -> None:
    """Training must not break these, whatever the share of right guesses."""
    assert route(sentence).intent == intent


def test_the_sentences_of_the_readme_are_among_them() -> None:
    shown = re.findall(r'brain run "([^"]+)"', README.read_text())
    assert shown
    assert set(shown) <= FIRST_SENTENCES.keys()


def test_no_sentence_is_both_learned_and_unseen_and_every_intent_is_in_both() -> None:
    learned, unseen = list(all_sentences("learned")), list(all_sentences("unseen"))
    assert not {_bare(sentence) for _, sentence in learned} & {_bare(sentence) for _, sentence in unseen}
    assert {intent for intent, _ in learned} == {intent for intent, _ in unseen} == set(GUESSED)


def _bare(sentence: str) -> str:
    return " ".join(re.findall(r"\w+", sentence.lower())) or sentence


@pytest.mark.parametrize(
    ("sentence", "intent"),
    [
        ("Explain the parser, do not change anything.", "explain_code"),
        ("create a function in utils.py", "edit_code"),
        ("build it", "run_command"),
        ("run the tests", "run_command"),
        ("list the files", "explain_code"),
        ("search for TODO", "explain_code"),
        ("run `git status`", "run_command"),
        ("don't touch the tests, but fix the parser", "edit_code"),
    ],
)
def test_what_was_promised(sentence: str, intent: str) -> None:
    assert route(sentence).intent == intent


@pytest.mark.parametrize(
    "text", ["", " ", "?", "…", "`", "```", "''", "/", "//", "😀", "\0", "a" * 200_000, "- " * 999]
)
def test_no_text_is_too_odd_to_be_routed(text: str) -> None:
    answer = route(text)
    assert answer.pipeline == list(PIPELINES[answer.intent])
    assert 0 <= answer.confidence <= 1
    assert answer.why


def test_the_reason_names_the_word_that_decided() -> None:
    assert "refactor" in route("please refactor the scheduler").why


def test_the_option_wins_over_the_words() -> None:
    answer = route("run the tests", Options(intent="write_docs"))
    assert (answer.intent, answer.confidence) == ("write_docs", 1.0)


def test_a_slash_command_wins_over_the_words_and_is_not_said_to_the_agents() -> None:
    assert route("/review the way we run the tests").intent == "review_code"
    assert route("/edit_code what is this?").intent == "edit_code"
    assert request_of("/run_command run the tests") == "run the tests"
    assert request_of("/ask what is a mutex?") == "what is a mutex?"
    assert request_of("/review") == "/review"
    assert request_of("/etc/passwd is readable, fix that") == "/etc/passwd is readable, fix that"


def test_a_slash_command_that_is_a_verb_is_a_part_of_what_is_said() -> None:
    assert request_of("/explain the parser") == "explain the parser"
    assert request_of("/run run the tests") == "run the tests"
    assert request_of("/refactor rename a_b to c_d") == "rename a_b to c_d"
    assert request_of("/Run the tests") == "/Run the tests"
    assert request_of("/new python cli called greeter") == "create python cli called greeter"


def test_an_own_slash_command_has_its_own_text_intent_and_agent() -> None:
    commands = {"ship": CustomCommand("ship", "Release $ARGUMENTS now.", intent="run_command", agent="terminal")}
    answer = route("/ship version 2", None, commands)
    assert (answer.intent, answer.pipeline) == ("run_command", ["terminal"])
    assert request_of("/ship version 2", commands) == "Release version 2 now."


def test_a_slash_with_the_name_of_an_agent_asks_that_one_alone() -> None:
    agents = ("coder", "docs", "sql")
    answer = route("/sql explain the parser", None, None, agents)
    assert (answer.intent, answer.pipeline, answer.why) == ("explain_code", ["sql"], "you wrote /sql")
    assert request_of("/sql explain the parser", None, agents) == "explain the parser"
    assert route("/docs the parser", None, None, agents).pipeline == ["docs", "reviewer"], "a kind of task comes first"
    assert request_of("/docs the parser", None, agents) == "document the parser"
    assert route("/sql rename it", Options(agent_type="coder"), None, agents).pipeline == ["coder"]
    assert request_of("/sql", None, agents) == "/sql"


def test_the_chosen_agent_is_the_whole_pipeline() -> None:
    assert route("fix it", Options(agent_type="docs")).pipeline == ["docs"]
