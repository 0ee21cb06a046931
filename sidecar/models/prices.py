"""Token prices: a shipped table, overridden by the user's own."""

import logging
from pathlib import Path
from typing import Any, NamedTuple

from sidecar.config.paths import config_file
from sidecar.wire.tasks import Usage

log = logging.getLogger(__name__)

#: Separators that start a variant of a listed name; `gpt-5.4` is not a variant of `gpt-5`.
_VARIANT = ("", "-", ":", "@")
_LONG = "long_"
SHIPPED = Path(__file__).with_name("prices.toml")


class Price(NamedTuple):
    """US dollars for a million tokens."""

    input: float
    output: float
    cached: float
    cache_write: float
    #: Context window in tokens, if known.
    context: int | None = None
    #: Price of requests with more than `long_over` tokens, if different.
    long: "Price | None" = None
    long_over: int = 0

    def cost(self, read: int, written: int, cached: int = 0, cache_writes: int = 0) -> float:
        if self.long is not None and read + cached + cache_writes > self.long_over:
            return self.long.cost(read, written, cached, cache_writes)
        each = read * self.input + written * self.output + cached * self.cached + cache_writes * self.cache_write
        return each / 1_000_000


def add_usage(one: Usage, other: Usage) -> Usage:
    return Usage(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cached_tokens=one.cached_tokens + other.cached_tokens,
        cost_usd=one.cost_usd + other.cost_usd,
    )


class Prices:
    """Loads the tables on first use. Logs and ignores an unreadable table."""

    def __init__(self, own: Path | None = None) -> None:
        self._own = own
        self._table: dict[str, Price] | None = None

    def of(self, name: str) -> Price | None:
        """The price of `provider/name`, if known."""
        if self._table is None:
            self._table = _read(SHIPPED) | _read(self._own or config_file().with_name("prices.toml"))
        matching = [known for known in self._table if name.startswith(known) and name[len(known) :][:1] in _VARIANT]
        return self._table[max(matching, key=len)] if matching else None


def _read(file: Path) -> dict[str, Price]:
    import tomllib

    try:
        return {name: _price(given) for name, given in tomllib.loads(file.read_text(encoding="utf-8")).items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        log.warning("Ignoring the prices in %s: %s", file, error)
        return {}


def _price(given: dict[str, Any]) -> Price:
    long = {name.removeprefix(_LONG): value for name, value in given.items() if name.startswith(_LONG)}
    read = float(given["input"])
    return Price(
        input=read,
        output=float(given["output"]),
        cached=float(given.get("cached", read)),
        cache_write=float(given.get("cache_write", read)),
        context=int(given["context"]) if "context" in given else None,
        long=_price(long) if long else None,
        long_over=int(long["over"]) if long else 0,
    )
