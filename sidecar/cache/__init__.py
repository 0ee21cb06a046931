"""Results of recent reads, served only while the files behind them are unchanged."""

from sidecar.cache.caches import Caches
from sidecar.cache.stamp import Stamp
from sidecar.cache.verified import VerifiedCache

__all__ = ["Caches", "Stamp", "VerifiedCache"]
