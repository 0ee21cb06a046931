"""Keys and passwords that stand in a text. A finding never shows them."""

import math
import re
from collections import Counter

from tools.code.files import is_test
from tools.code.review import Finding, Severity, Subject

_KNOWN = {
    "an AWS access key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})\b",
    "a GitLab token": r"\bglpat-[\w-]{20,}",
    "an Anthropic key": r"\bsk-ant-[\w-]{20,}",
    "an OpenAI key": r"\bsk-(?:proj-)?[A-Za-z0-9_-]{32,}",
    "a Stripe key": r"\b[sr]k_live_[A-Za-z0-9]{16,}",
    "a Slack token": r"\bxox[abposr]-[A-Za-z0-9-]{10,}",
    "a Google key": r"\bAIza[\w-]{35}\b",
    "an npm token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "a private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----",
    "a password in an address": r"\b[a-z][a-z0-9+]*://[^\s:/@'\"{}$<>]+:(?![$<{*])[^\s:/@'\"{}$<>]{6,}@[\w.-]+\.[a-z]{2,}",
}
_PATTERNS = [(what, re.compile(pattern)) for what, pattern in _KNOWN.items()]
_NAMED = re.compile(
    r"""(?i)\b[\w-]*(?:password|passwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token|private[_-]?key)[\w-]*["']?"""
    r"""\s*[:=]\s*["'`]([^"'`\s]{8,})["'`]"""
)
_PLACEHOLDER = re.compile(
    r"(?i)example|changeme|change_me|placeholder|your[_-]|dummy|fake|test|xxx|\.\.\.|todo|sample|<|\$\{|\{\{|%\(|secret$|password$"
)
_RANDOM = 3.2
_FIX = "take it out, keep it outside of the repository, and replace it where it was used: whoever saw it has it."


def secrets(subject: Subject) -> list[Finding]:
    found = []
    for number, line in enumerate(subject.text.splitlines(), 1):
        if not subject.counts(number) or len(line) > 5_000:
            continue
        what = next((what for what, pattern in _PATTERNS if pattern.search(line)), None)
        if what is not None:
            found.append(Finding(subject.path, number, "error", f"This looks like {what}.", _FIX))
        elif (named := _NAMED.search(line)) and not _PLACEHOLDER.search(named[1]):
            random = _entropy(named[1]) > _RANDOM and re.search(r"\d", named[1]) is not None
            severity: Severity = (
                "hint" if is_test(subject.path) else "error" if random and len(named[1]) >= 16 else "warning"
            )
            message = "A password or key seems to stand here in plain text."
            found.append(Finding(subject.path, number, severity, message, "read it from the environment."))
    return found


def _entropy(text: str) -> float:
    """Bits for each character: words have about 2.5, random keys more than 3.5."""
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())
