"""What was read lately, kept for as long as it is provably unchanged."""

from sidecar.cache.caches import Caches
from sidecar.cache.stamp import Stamp
from sidecar.cache.verified import VerifiedCache

__all__ = ["Caches", "Stamp", "VerifiedCache"]
