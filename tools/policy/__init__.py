"""May a call run? Decided here, for every call, whatever the model says."""

from tools.policy.decision import Decision
from tools.policy.policy import Policy

__all__ = ["Decision", "Policy"]
