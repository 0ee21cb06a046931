"""Routing with what surrounds a request: the conversation, a selection, a traceback, a bug report, a ban on changes."""

from pathlib import Path
from typing import cast

import pytest

from sidecar.wire.intents import Intent
from sidecar.wire.tasks import Context, Options
from sidecar.work.router import READ_ONLY, route, unsure
from tests.sentences import SENTENCES, all_sentences, continuations

CONVERSATION = SENTENCES / "conversation"


def same_rights(one: str, other: str) -> bool:
    """Whether both intents may edit, or neither, or both run something."""
    return (one in READ_ONLY, one == "run_command") == (other in READ_ONLY, other == "run_command")


@pytest.mark.parametrize("file", sorted(CONVERSATION.glob("follow_ups*.txt")), ids=lambda file: file.stem)
def test_follow_ups_get_the_right_to_write_exactly_if_they_ask_for_it(file: Path) -> None:
    """A heading is the intent that is right, and perhaps the one before: `[explain_code after edit_code]`."""
    wrong, total, intent, before = [], 0, "", ""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            intent, _, before = line[1:-1].partition(" after ")
            continue
        total += 1
        known = cast("Intent | None", before or None)
        if not same_rights(found := route(line, follows=True, before=known).intent, intent):
            wrong.append(f"{line} → {found}")
    print(f"{total - len(wrong)} of {total} follow-ups; wrong: {wrong}")
    assert len(wrong) / total <= 0.05


@pytest.mark.parametrize("file", sorted(CONVERSATION.glob("reports*.txt")), ids=lambda file: file.stem)
def test_tracebacks_and_bug_reports_may_be_fixed_unless_only_an_answer_is_wanted(file: Path) -> None:
    wrong, blocks = [], file.read_text(encoding="utf-8").split("\n---\n")
    for block in blocks:
        label, _, text = block.strip().partition("\n")
        if (found := route(text).intent) != label[1:-1]:
            wrong.append(f"{text} → {found}")
    assert len(wrong) / len(blocks) <= 0.05, wrong


def test_no_follow_up_is_both_learned_and_tested() -> None:
    tested = {line for file in CONVERSATION.glob("follow_ups*.txt") for line in file.read_text().splitlines()}
    assert not tested & {*continuations(), *(text for _, text in all_sentences("followed"))}


@pytest.mark.parametrize(
    "sentence",
    [
        "What is going on here, and can anything be done about it? The worker logs `lease lost` every few minutes.",
        "Could someone look into why exports are empty for users without a locale?",
        "Docs build is broken on main: `WARNING: undefined label: quickstart`",
        "Kann man da was machen? Der Export dauert zehn Minuten.",
        "¿Se puede arreglar que el menú tape el contenido en móviles?",
        "Peut-on éviter que le journal grossisse sans limite ?",
        "Alguém pode olhar o timeout do upload?",
    ],
)
def test_a_question_whether_something_can_be_done_may_edit(sentence: str) -> None:
    assert route(sentence).intent == "edit_code"


@pytest.mark.parametrize(
    "sentence", ["run the tests, I think something is broken", "roda o pytest só no módulo de auth"]
)
def test_an_order_to_run_something_runs_it(sentence: str) -> None:
    assert route(sentence).intent == "run_command"


@pytest.mark.parametrize(
    "sentence", ["you forgot something", "revert the rename but keep the rest", "kümmer dich drum"]
)
def test_after_an_answer_words_that_are_no_question_may_edit_and_the_first_edit_asks(sentence: str) -> None:
    followed = route(sentence, follows=True)
    assert (followed.intent, unsure(followed)) == ("edit_code", True)


@pytest.mark.parametrize("sentence", ["yes, do it", "sounds good, apply that", "go ahead", "ja, mach das", "vas-y"])
def test_an_agreement_may_write_only_if_something_was_said_before(sentence: str) -> None:
    followed = route(sentence, follows=True)
    assert (followed.intent, unsure(followed)) == ("edit_code", False)
    assert followed.why == "you agree to what was proposed"
    assert route(sentence).why != followed.why


@pytest.mark.parametrize(
    "sentence",
    [
        "yes, why?",
        "ok, what does it do?",
        "go ahead and explain it",
        "yes but don't change anything yet, explain first",
    ],
)
def test_an_agreement_that_asks_for_more_is_no_mere_agreement(sentence: str) -> None:
    assert route(sentence, follows=True).why != "you agree to what was proposed"


@pytest.mark.parametrize(
    "sentence",
    [
        "ok, take the first option",
        "that works, apply it",
        "Nimm die zweite Lösung",
        "aplica tu propuesta",
        "usa a ideia",
    ],
)
def test_choosing_a_proposal_is_an_agreement(sentence: str) -> None:
    assert route(sentence, follows=True).why == "you agree to what was proposed"


@pytest.mark.parametrize(
    "sentence",
    [
        "Many tests fail today. Run the tests and fix what's broken.",
        "run mypy, then make it pass",
        "Starte die Tests und behebe die Fehler",
        "Ejecuta el linter y arregla lo que diga",
        "Lance ruff puis corrige les erreurs",
        "Rode o lint e arrume os avisos",
    ],
)
def test_what_runs_and_repairs_may_edit(sentence: str) -> None:
    answer = route(sentence)
    assert (answer.intent, unsure(answer)) == ("edit_code", False)


@pytest.mark.parametrize(
    "sentence",
    [
        "why does it fail? fix it",
        "Warum ist die Liste leer? Bitte beheben",
        "¿Por qué sale vacío? Corrígelo",
        "Pourquoi la liste est vide ? Répare-la",
        "Por que a lista vem vazia? Conserta isso",
        "do we really need jquery? if not remove it",
        "why not use a set here? do that",
        "warum ist das Feld Pflicht? soll optional sein",
        "is there a reason we load the whole list? otherwise load the first page only",
        "tell me why it crashes and fix the cause",
        "find all uses of the old logger and replace them",
        "who put the key there?! move it to the settings",
    ],
)
def test_a_question_with_an_order_may_edit(sentence: str) -> None:
    assert route(sentence).intent == route(sentence, follows=True).intent == "edit_code"


@pytest.mark.parametrize(
    "sentence",
    [
        "convert the callbacks in queue.js to promises without changing anything in the behaviour",
        "zerlege die Klasse Mailer, ohne etwas am Verhalten zu ändern",
        "divide la clase Mailer sin cambiar nada del comportamiento",
        "découpe la classe Mailer sans rien changer au comportement",
        "separa a classe Mailer sem mudar nada no funcionamento",
    ],
)
def test_that_the_behaviour_stays_is_no_ban_on_changes(sentence: str) -> None:
    assert route(sentence).intent == "refactor_code"


@pytest.mark.parametrize(
    "sentence", ["no cambió nada en la pantalla", "não mudou nada na tela", "ainda não mudou nada"]
)
def test_that_nothing_has_changed_is_no_ban_on_changes(sentence: str) -> None:
    assert route(sentence, follows=True).why != "you want nothing changed"


@pytest.mark.parametrize(
    "sentence",
    [
        "leave the code alone, what is the lease for?",
        "lass den Code in Ruhe, wozu ist der Lease da?",
        "deja el código en paz, ¿para qué es el lease?",
        "laisse le code tranquille, à quoi sert le bail ?",
        "deixa o código quieto, pra que serve o lease?",
    ],
)
def test_code_that_is_to_be_left_alone_is_only_read(sentence: str) -> None:
    assert route(sentence).intent in READ_ONLY


def test_steps_that_change_no_data_are_no_ban_on_changes() -> None:
    assert route("Fix the crash on save\n\n1. Open a form\n2. Save it without changing any data").intent == "edit_code"


@pytest.mark.parametrize("sentence", ["run the tests and tell me what fails", "run the tests and don't fix anything"])
def test_what_only_runs_gets_no_right_to_edit(sentence: str) -> None:
    assert route(sentence).intent == "run_command"


def test_what_stays_open_may_edit_but_is_unsure_so_that_the_first_edit_asks() -> None:
    open_ones = ["hm, the button", "this here", "dates in March"]
    answers = [route(sentence, context=Context(selected_code="x = 1")) for sentence in open_ones]
    assert all(answer.intent not in READ_ONLY for answer in answers)
    asking = [answer for answer in answers if "the first edit asks you" in answer.why]
    assert asking and all(map(unsure, asking))


@pytest.mark.parametrize(
    ("sentence", "intent"),
    [
        ("Can you make `Length` faster?", "edit_code"),
        ("fix the parser, but don't change anything else", "edit_code"),
        ("run the linter but don't fix anything", "run_command"),
        ("plan the split of core.py, don't change anything yet", "explain_code"),
    ],
)
def test_a_ban_counts_as_far_as_it_goes(sentence: str, intent: str) -> None:
    found = route(sentence).intent
    assert found == intent or (intent in READ_ONLY and found in READ_ONLY)


@pytest.mark.parametrize(
    "sentence",
    [
        "undo the last change",
        "Please undo your last change.",
        "no, revert the previous edit",
        "can you take the last change back, please?",
        "Mach bitte die letzte Änderung rückgängig!",
        "die letzte Änderung zurücknehmen",
        "kannst du die letzte Änderung rückgängig machen?",
        "deshaz el último cambio, por favor",
        "¿puedes deshacer el último cambio?",
        "annule la dernière modification s'il te plaît",
        "peux-tu annuler le dernier changement ?",
        "desfaça a última alteração",
        "você pode desfazer a última mudança?",
    ],
)
def test_undoing_the_last_change_needs_no_agent(sentence: str) -> None:
    answer = route(sentence)
    assert (answer.intent, answer.pipeline) == ("edit_code", []), answer
    assert answer.why == "you ask to undo the last change"


@pytest.mark.parametrize(
    "sentence",
    [
        "undo the last change in my git history",
        "undo the last change to app.py",
        "undo the last commit",
        "undo",
        "explain undo",
        "how do I undo the last change?",
        "don't undo the last change",
        "não desfaça a última alteração",
        "implement undo: undo the last change when Ctrl-Z is pressed",
        'the button "undo the last change" does nothing',
        "undo the last change and add a test",
    ],
)
def test_other_sentences_about_undoing_go_to_an_agent(sentence: str) -> None:
    assert route(sentence).pipeline


def test_undo_that_means_the_last_change_only_if_something_was_said_before() -> None:
    for sentence in ("undo that", "mach das rückgängig", "deshaz eso", "annule ça", "desfaça isso"):
        assert route(sentence).pipeline and not route(sentence, follows=True).pipeline


def test_an_intent_that_only_reads_undoes_nothing() -> None:
    assert route("undo the last change", Options(intent="explain_code")).pipeline == ["coder"]
    assert route("undo the last change", Options(intent="edit_code", agent_type="coder")).pipeline == []


@pytest.mark.parametrize(
    "sentence",
    [
        "no, not yet",
        "nah, leave it for now",
        "noch nicht, danke",
        "mejor no",
        "non merci",
        "deixa pra lá",
        "never mind",
        "lets not do that",
    ],
)
def test_turning_a_proposal_down_gives_no_right_to_write(sentence: str) -> None:
    assert route(sentence, follows=True).intent == "chat"


@pytest.mark.parametrize(
    "sentence", ["no, use the other file", "nein, nimm Variante zwei", "no, hazlo en el cliente", "non, mets 20"]
)
def test_a_no_that_asks_for_something_else_may_write(sentence: str) -> None:
    assert route(sentence, follows=True).intent == "edit_code"


@pytest.mark.parametrize(
    "sentence",
    [
        "how does that work",
        "what's the difference between the two",
        "where does that number come from",
        "why did you do it that way",
        "wie hängt das zusammen",
        "por qué lo hiciste así",
        "pourquoi tu as fait ça",
        "por que você fez assim",
    ],
)
def test_a_question_without_its_mark_gets_no_right_to_edit(sentence: str) -> None:
    assert route(sentence, follows=True).intent in READ_ONLY


@pytest.mark.parametrize("sentence", ["why not use a set", "can you use a set instead", "what about a set, use one"])
def test_a_proposal_in_the_form_of_a_question_may_edit(sentence: str) -> None:
    assert route(sentence, follows=True).intent == "edit_code"


@pytest.mark.parametrize(
    "sentence", ["what's the difference between PUT and PATCH?", "explain how to find and remove duplicates in a list"]
)
def test_words_for_a_repair_that_order_none_give_no_right_to_edit(sentence: str) -> None:
    assert route(sentence).intent in READ_ONLY


@pytest.mark.parametrize(
    ("hurried", "careful"),
    [
        ("dont change anything, whats slow here", "don't change anything, what's slow here"),
        ("Don’t touch anything yet, what’s wrong here?", "Don't touch anything yet, what's wrong here?"),
        ("pls fix the login, it doesnt work", "please fix the login, it doesn't work"),
        ("can u run the tests", "can you run the tests"),
    ],
)
def test_hurried_spellings_and_curly_apostrophes_change_nothing(hurried: str, careful: str) -> None:
    one, other = route(hurried), route(careful)
    assert (one.intent, round(one.confidence, 2)) == (other.intent, round(other.confidence, 2))


@pytest.mark.parametrize("sentence", ["again", "once more please", "nochmal", "otra vez", "encore une fois", "de novo"])
@pytest.mark.parametrize("before", ["run_command", "explain_code", "edit_code"])
def test_again_means_what_was_done_before(sentence: str, before: Intent) -> None:
    assert route(sentence, follows=True, before=before).intent == before


@pytest.mark.parametrize(
    "sentence",
    [
        "and the next class?",
        "und die nächste Klasse?",
        "¿y la otra clase?",
        "et la classe suivante ?",
        "e a próxima classe?",
    ],
)
def test_what_leaves_out_its_verb_means_more_of_what_was_done_before(sentence: str) -> None:
    for before in ("edit_code", "explain_code"):
        assert same_rights(route(sentence, follows=True, before=before).intent, before)


@pytest.mark.parametrize("sentence", ["looks good, thanks", "looks perfect thank you!"])
def test_thanks_for_what_looks_good_start_nothing(sentence: str) -> None:
    answer = route(sentence, follows=True, before="edit_code")
    assert answer.intent in READ_ONLY or unsure(answer)


@pytest.mark.parametrize("sentence", ["now with --strict", "ahora con -v", "agora com --release"])
def test_other_options_after_a_command_run_it_again(sentence: str) -> None:
    assert route(sentence, follows=True, before="run_command").intent == "run_command"


@pytest.mark.parametrize(
    "sentence", ["looks good, push it", "super, commit das", "genial, haz push", "nickel, pousse", "ótimo, dá push"]
)
def test_publishing_what_was_done_runs_a_command(sentence: str) -> None:
    assert route(sentence, follows=True).intent == "run_command"


@pytest.mark.parametrize(
    "sentence", ["now two tests fail", "jetzt sind die Tests rot", "ahora fallan las pruebas", "agora os testes falham"]
)
def test_tests_that_fail_after_a_change_may_be_repaired(sentence: str) -> None:
    assert route(sentence, follows=True).intent == "edit_code"
    assert route(f"{sentence}?", follows=True).why != "it says that something fails now"
