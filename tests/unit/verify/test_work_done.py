import pytest

from sidecar.verify.work_done import find_claim


@pytest.mark.parametrize(
    "report",
    [
        "Done: `do_truncate` raises `FilterArgumentError` for a negative leeway now, and the tests pass.",
        "I looked at it.\n\nI've fixed the comparison.",
        "The option was renamed everywhere.",
        "✅ Added the new flag",
        "Erledigt: der Filter prüft jetzt den Wert.",
        "Ich habe den Vergleich in der Funktion korrigiert.",
        "Hecho, ahora lanza un error.",
        "J'ai corrigé la comparaison.",
        "Corrigi a comparação dos valores.",
    ],
)
def test_a_report_of_a_change_is_a_claim(report: str) -> None:
    assert find_claim(report, asked=False) != ""


@pytest.mark.parametrize(
    "report",
    [
        "The function compares with `<`; that is the cause. Shall I fix it?",
        "Nothing was changed: the check is there already.",
        "It is already fixed on this branch.",
        "This was fixed in version 2.0, so there is nothing to do.",
        "I have not changed anything.",
        "I would add a check for it. Which error should it raise?",
        "There is no such function here.",
        "Das ist bereits behoben.",
        "Ich habe nichts geändert.",
        "Rien n'a été changé.",
        "Done.",
        "Run `for each in a b; do echo $each; done` to see it.",
        "```\nDone: x\n```\nThat is what the tool prints.",
    ],
)
def test_an_answer_about_what_is_there_is_no_claim(report: str) -> None:
    assert find_claim(report, asked=False) == ""


@pytest.mark.parametrize("report", ["Done.", "✅ Done!", "Fixed it.", "Erledigt.", "C'est fait.", "Hecho."])
def test_a_bare_done_claims_the_change_that_was_asked_for(report: str) -> None:
    assert find_claim(report, asked=True) != ""
    assert find_claim(report, asked=False) == ""


@pytest.mark.parametrize("report", ["Nothing to do.", "Already done.", "Hello.", "Which one?", "Not done."])
def test_a_short_answer_without_a_claim_stays_none(report: str) -> None:
    assert find_claim(report, asked=True) == ""
