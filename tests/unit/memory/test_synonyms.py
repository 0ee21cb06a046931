"""Other words for those of a question: a search takes only the first few, so their order must not change."""

from sidecar.memory.synonyms import related


def test_related_words_come_in_the_order_of_their_groups() -> None:
    for word, others in (
        ("url", ["uri", "link", "href"]),
        ("ele", ["el", "nod", "item", "entri"]),
        ("merg", ["combin", "join", "concat", "extend"]),
    ):
        assert [other for other, _ in related(word)] == others
