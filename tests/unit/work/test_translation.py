"""Requests in other languages, word by word in English."""

import pytest

from sidecar.work.routing.translation import translate


@pytest.mark.parametrize(
    ("request_", "english"),
    [
        ("kannst du die tests starten ?", "can you the tests run ?"),
        ("¿ puedes ejecutar las pruebas ?", "¿ can run the tests ?"),
        ("tu peux corriger l'erreur ?", "can you fix the bug ?"),
        ("você pode renomear a função ?", "can you rename the function ?"),
        ("est - ce que tu peux renommer la fonction ?", "can you rename the function ?"),
        ("como funciona isso ?", "how work this ?"),
        ("wie geht das ?", "how work the ?"),
        ("¿ por qué falla ?", "¿ why fails ?"),
        ("por que falla ?", "why fails ?"),
        ("onde fica a configuracao da conexao ?", "where is the config of connection ?"),
        ("vc pode corrigir tbm ?", "can you fix also ?"),
    ],
)
def test_known_words_become_english_and_a_question_gets_its_order(request_: str, english: str) -> None:
    assert translate(request_.split()) == english.split()


@pytest.mark.parametrize("request_", ["run the tests", "fix no", "qwerty asdf", "", "テスト を 実行"])
def test_what_is_english_or_unknown_stays(request_: str) -> None:
    assert translate(request_.split()) is None
