"""What tokens cost: the shipped table, and the user's own over it."""

from pathlib import Path

import pytest

from sidecar.models.prices import SHIPPED, Prices
from sidecar.models.providers import PROVIDERS


def test_every_default_model_has_a_price_and_a_size(tmp_path: Path) -> None:
    prices = Prices(tmp_path / "none.toml")
    for name, provider in PROVIDERS.items():
        for model in (provider.fast, provider.smart, provider.instant):
            price = prices.of(f"{name}/{model}")
            assert price is not None and price.context, f"{name}/{model}"


def test_the_longest_name_wins(tmp_path: Path) -> None:
    prices = Prices(tmp_path / "none.toml")
    opus, newer = prices.of("anthropic/claude-opus-5"), prices.of("anthropic/claude-opus-5-5-20260101")
    assert opus and newer and newer.input < opus.input
    assert prices.of("anthropic/gpt") is None


def test_cached_tokens_have_their_own_price(tmp_path: Path) -> None:
    own = tmp_path / "prices.toml"
    own.write_text('["groq/x"]\ninput = 10\noutput = 100\ncached = 1\n')
    price = Prices(own).of("groq/x")
    assert price and price.cost(100_000, 10_000, 900_000) == pytest.approx(1.0 + 1.0 + 0.9)


def test_the_users_own_prices_are_read_over_the_shipped_ones(tmp_path: Path) -> None:
    own = tmp_path / "prices.toml"
    own.write_text('["gemini/gemini-3.8-flash"]\ninput = 42\noutput = 43\n')
    price = Prices(own).of("gemini/gemini-3.8-flash")
    assert price and (price.input, price.output, price.cached) == (42, 43, 42)


@pytest.mark.parametrize("text", ["nonsense", "x = 3", '["groq/x"]\ninput = "much"\noutput = 1'])
def test_a_table_that_cannot_be_read_leaves_the_others_as_they_are(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    own = tmp_path / "prices.toml"
    own.write_text(text)
    assert Prices(own).of("gemini/gemini-3.8-flash") is not None
    assert str(own) in caplog.text


def test_a_long_request_has_a_price_of_its_own() -> None:
    price = Prices(Path("/nowhere")).of("anthropic/claude-haiku-5-5")
    assert price is not None
    assert price.cost(100_000, 0) == pytest.approx(0.01)
    assert price.cost(100_001, 0) == pytest.approx(0.05, rel=1e-4)
    assert price.cost(1, 0, cached=100_000) == pytest.approx(0.005, rel=1e-3), "what was cached counts as well"


def test_another_version_is_no_variant() -> None:
    prices = Prices(Path("/nowhere"))
    assert prices.of("openai/gpt-5-2025-08-07") == prices.of("openai/gpt-5")
    assert prices.of("openai/gpt-5.9") is None
    assert prices.of("openai/gpt-5.4") != prices.of("openai/gpt-5")


def test_every_price_of_the_table_can_be_read() -> None:
    import tomllib

    table = tomllib.loads(SHIPPED.read_text(encoding="utf-8"))
    prices = Prices(Path("/nowhere"))
    assert all(prices.of(name) is not None for name in table)
    for name, given in table.items():
        assert given["output"] >= given["input"] >= given.get("cached", 0) > -1, name
