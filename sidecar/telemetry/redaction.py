"""Redacts secrets in every text before it reaches the journal, a stream, a log or a model.

It finds known values anywhere, and other keys by their pattern. Values in the setting `let_through` stay.
"""

import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from itertools import groupby

from pydantic import JsonValue

REDACTED = "[redacted:"
_NAMES = re.compile(r"KEY(?!BOARD|MAP)|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH(?!OR)", re.IGNORECASE)
#: Shorter values, such as the `x` that a local server accepts as a key, occur in ordinary words.
_MIN_LENGTH = 8
#: Texts up to this length are remembered while they are known to hold no secret: paths and names come again and again.
_SHORT, _REMEMBERED = 100, 1_000
#: Base64 in lines, as it is written in a file, a diff, a numbered listing or a string.
_KEY_BODY = r"[A-Za-z0-9+/=\s\\:,.\"'|>()-]"
#: Secrets that show by themselves: name, literals with one of which every match begins, pattern. A group `secret` is
#: the part to redact; without one, all of the match is.
_PATTERNS = (
    ("anthropic-key", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{16,}"),
    ("openai-key", ("sk-",), r"\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{20,}"),
    ("groq-key", ("gsk_",), r"gsk_[A-Za-z0-9]{20,}"),
    ("google-key", ("AIza", "GOCSPX-", "ya29."), r"AIza[\w-]{30,}|\bGOCSPX-[\w-]{20,}|\bya29\.[\w-]{30,}"),
    (
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})",
    ),
    ("gitlab-token", ("glpat-",), r"glpat-[A-Za-z0-9_-]{16,}"),
    ("slack-token", ("xox", "xapp-"), r"\b(?:xox[abceoprs]|xapp)-[A-Za-z0-9-]{10,}"),
    ("slack-hook", ("hooks.slack.com/",), r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9/]{20,})"),
    ("aws-key", ("AKIA", "ASIA"), r"(?<![A-Za-z0-9/])(?<![A-Za-z0-9]\+)(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9/+])"),
    (
        "aws-secret",
        ("secret", "Secret", "SECRET"),
        r"(?i:secret_?-?(?:access_?-?)?key)[\"']?\s{0,4}[:=,]?\s{0,4}[\"']?"
        r"(?P<secret>(?![0-9a-f]{40}(?![A-Za-z0-9/+=]))[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    (
        "stripe-key",
        ("sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"),
        r"\b(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}",
    ),
    ("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{30,}"),
    ("pypi-token", ("pypi-AgE",), r"pypi-AgE[A-Za-z0-9_-]{16,}"),
    ("huggingface-token", ("hf_",), r"\bhf_[A-Za-z0-9]{20,}"),
    ("sendgrid-key", ("SG.",), r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("token", ("eyJ",), r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    (
        "url-password",
        ("://",),
        r"(?<=\w)://(?P<user>[^\s/@:?#\"'`<>\\]{0,200}):(?P<secret>[^\s/?#\"'`<>\\]{1,500})@(?=[\w\[%$\{(.-])",
    ),
    # A public key in an address, as of Sentry, has 32 characters.
    ("url-token", ("://",), r"(?<=\w)://(?P<secret>(?=[A-Za-z_-]{0,40}\d)[A-Za-z0-9_-]{36,200})(?=@[\w\[])"),
    (
        "authorization",
        ("uthorization", "UTHORIZATION"),
        r"(?i:uthorization)[\"']?\s{0,4}[:=,]\s{0,4}[\"']?(?i:basic|bearer|token)\s{1,4}"
        r"(?P<secret>(?=[A-Za-z+/=._~-]{0,200}\d)[A-Za-z0-9+/=._~-]{20,})",
    ),
    (
        "private-key",
        ("-----BEGIN ",),
        # Also one that is cut off, but never the code around a constant that only holds the first line.
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?=\s|\\[nr])(?:"
        rf"{_KEY_BODY}*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
        rf"|(?={_KEY_BODY}{{0,400}}?[A-Za-z0-9+/=]{{32}}){_KEY_BODY}*)",
    ),
)
_BEGINNINGS = re.compile(
    r"(?:(?:sk-|[sr]k_|whsec_|gsk_|AIza|GOCSPX-|ya29\.|gh[pousr]_|github_pat_|glpat-|xox|xapp-|AKIA|ASIA|npm_|pypi-AgE|hf_"
    r"|SG\.|eyJ)[A-Za-z0-9_.-]*|hooks\.slack\.com/[A-Za-z0-9/]*|\w://[^\s/?#\"'`<>]*"
    r"|(?i:uthorization)[\"'\s:=,]{1,10}(?:(?i:basic|bearer|token)\s{1,4}[A-Za-z0-9+/=._~-]*)?"
    r"|(?i:access_?-?key)[\"'\s:=]{1,10}[A-Za-z0-9/+=]*)\Z"
)
_START_WORDS = """
sk- sk_live_ rk_live_ sk_test_ rk_test_ whsec_ gsk_ AIza GOCSPX- ya29. ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xox
xapp- AKIA ASIA npm_ pypi-AgE hf_ SG. eyJ -----B
"""
_STARTS = tuple(_START_WORDS.split())
#: `sk-toggleable-control-label`: ordinary words, such as the name of a style. Nothing but a key begins with `sk-ant-`.
_PLAIN_WORDS = re.compile(r"(?!sk-ant-)[a-z.]+(?:[-_]+[a-z]+)+")
#: What examples and templates have in the place of a password.
_PLACEHOLDER_WORDS = """
pass password passwd passwort pwd pw secret token user username example your-password your_password yourpassword
my-password mypassword xxx redacted
"""
_PLACEHOLDERS = frozenset(_PLACEHOLDER_WORDS.split())
_TEMPLATE = re.compile(
    r"\$\{|\$\(|\{\{|\{[\w.!()\[\]]*\}|%\(\w+\)s|%[sd]\Z|\$[A-Z_][A-Z0-9_]*\Z|[*x.…]+\Z|[\[(]redacted|\d{1,5}\Z"
)
#: An assignment in a file that is known to hold secrets, with or without a line number before it.
_ASSIGNMENTS = re.compile(
    r"(?P<name>[\w.-]*(?:pass(?:w|phrase|\b|_)|pwd|secret|token|credential|auth(?!or)|(?:api|private|access|account|signing"
    r"|encryption|client|master|license)[_-]?key|key[_-]?(?:data|base|hash)|\bkey\b|_key\b|dsn\b|salt\b)[\w.-]*)[\"']?"
    r"(?:[ \t]*[=:][ \t]*|[ \t]+(?=\S+[ \t]*(?:$|login|account|port)))"
    r"(?P<value>\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[^\s#,;][^\n]*?(?=[ \t]+#|[ \t]*,?[ \t]*$))",
    re.IGNORECASE | re.MULTILINE,
)
#: The fifth field of a line in `.pgpass`: host:port:database:user:password.
_PGPASS = re.compile(r"^(?:[ \t]*\d+[ :-][ \t]?)?[\w.*-]+:(?:\d+|\*):[^:\n]+:[^:\n]+:(?P<value>[^\n]+)$", re.MULTILINE)
#: Values that say nothing, in files that hold secrets.
_HARMLESS = frozenset(("true", "false", "null", "none", "yes", "no", "{", "[", "|", ">", ""))


@cache
def _any_literal() -> re.Pattern[str]:
    """Finds a literal of any pattern; grouped by its first character, it takes half the time."""
    found = sorted({literal for _, literals, _ in _PATTERNS for literal in literals})
    groups = groupby(found, key=lambda literal: literal[0])
    rests = ((first, "|".join(re.escape(literal[1:]) for literal in group)) for first, group in groups)
    return re.compile("|".join(f"{re.escape(first)}(?:{rest})" for first, rest in rests))


@cache
def _compiled() -> tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]:
    return tuple((name, literals, re.compile(pattern)) for name, literals, pattern in _PATTERNS)


class Redactor:
    """Calls `known` for names and values at the first text, and again when `stamp` changes. Old values stay secret."""

    def __init__(
        self,
        known: Callable[[], Mapping[str, str]] = dict,
        let_through: Collection[str] = frozenset(),
        stamp: Callable[[], object] = lambda: None,
    ) -> None:
        self._known = known
        self._let_through = frozenset(let_through)
        self._stamp = stamp
        self._asked: object = ()
        self._found: dict[str, str] = {}
        self._learned: dict[str, str] = {}
        #: Short texts without any of these.
        self._clean: set[str] = set()

    def __call__(self, text: str) -> str:
        if len(text) < _MIN_LENGTH:
            return text
        values = self._values()
        if text in self._clean:
            return text
        redacted = self._redact(text, values)
        if redacted is text and len(text) <= _SHORT:
            if len(self._clean) >= _REMEMBERED:
                self._clean.clear()
            self._clean.add(text)
        return redacted

    def _redact(self, text: str, values: Mapping[str, str]) -> str:
        for value, name in values.items():
            if value in text:
                text = text.replace(value, f"{REDACTED}{name}]")
        # Searching for literals first is a hundred times faster than a pattern, and most texts hold none.
        if _any_literal().search(text) is None:
            return text
        for name, literals, pattern in _compiled():
            for literal in literals:
                if (place := text.find(literal)) >= 0:
                    text = self._redact_from(place, literal, name, pattern, text)
        return text

    def _redact_from(self, place: int, literal: str, name: str, pattern: re.Pattern[str], text: str) -> str:
        parts: list[str] = []
        done = 0
        while place >= 0:
            match = pattern.match(text, place)
            if match is None:
                place = text.find(literal, place + 1)
                continue
            parts += [text[done:place], self._replace(name, match)]
            done = match.end()
            place = text.find(literal, done)
        return "".join([*parts, text[done:]]) if parts else text

    def secret_file(self, text: str) -> str:
        """The same for a text from a file that is known to hold secrets: assigned values go too."""
        return self(_ASSIGNMENTS.sub(_replace_assigned, _PGPASS.sub(_replace_assigned, text)))

    def learn(self, values: Mapping[str, str]) -> None:
        """Redact these values from now on, wherever they occur."""
        wanted = {
            value: name
            for name, value in values.items()
            if len(value) >= _MIN_LENGTH and value not in self._let_through and value not in self._learned
        }
        if wanted:
            self._learned |= wanted
            self._asked = ()

    def json(self, value: JsonValue, clean: Callable[[str], str] | None = None) -> JsonValue:
        if clean is None:
            # Most results hold no secret; one look at all their texts is much faster than one at each.
            if isinstance(value, dict | list) and not self._may_hold("\n".join(_texts(value))):
                return value
            clean = self
        if isinstance(value, str):
            return clean(value)
        if isinstance(value, dict):
            return {name: self.json(each, clean) for name, each in value.items()}
        return [self.json(each, clean) for each in value] if isinstance(value, list) else value

    def _may_hold(self, text: str) -> bool:
        if len(text) < _MIN_LENGTH:
            return False
        return any(value in text for value in self._values()) or _any_literal().search(text) is not None

    def open_end(self, text: str) -> int:
        """The index from which on the text may be the start of a secret, once more of it arrives."""
        start = _BEGINNINGS.search(text, max(len(text) - 300, 0))
        end = start.start() if start else len(text)
        last = text[-1:]
        for value in (*self._values(), *_STARTS):
            if last not in value:
                continue  # most texts end with a line
            for length in range(min(len(value) - 1, len(text)), 0, -1):
                if text.endswith(value[:length]):
                    end = min(end, len(text) - length)
                    break
        return end

    def _values(self) -> dict[str, str]:
        """Names by value, the longest value first: one may contain another."""
        stamp = self._stamp()
        if stamp != self._asked:
            self._asked = stamp
            self._clean.clear()
            wanted = {
                value: name
                for name, value in self._known().items()
                if len(value) >= _MIN_LENGTH and value not in self._let_through
            }
            found = {**self._found, **self._learned, **wanted}
            self._found = dict(sorted(found.items(), key=lambda item: -len(item[0])))
        return self._found

    def _replace(self, name: str, match: re.Match[str]) -> str:
        groups = match.groupdict()
        secret = groups.get("secret") or match[0]
        if secret in self._let_through or _PLAIN_WORDS.fullmatch(secret) or REDACTED in secret:
            return match[0]
        if "user" in groups and _is_placeholder(secret, groups["user"] or ""):
            return match[0]
        return f"{REDACTED}{name}]" if secret == match[0] else _cut_out(match, name)


def _texts(value: JsonValue) -> list[str]:
    """All texts within; each call of a tool is looked through several times, so a loop rather than a recursion."""
    texts: list[str] = []
    open_values: list[JsonValue] = [value]
    while open_values:
        each = open_values.pop()
        if isinstance(each, str):
            texts.append(each)
        elif isinstance(each, dict):
            open_values += each.values()
        elif isinstance(each, list):
            open_values += each
    return texts


def _cut_out(match: re.Match[str], name: str) -> str:
    start, end = (place - match.start() for place in match.span("secret"))
    return f"{match[0][:start]}{REDACTED}{name}]{match[0][end:]}"


def _is_placeholder(password: str, user: str) -> bool:
    plain = password.casefold()
    return plain == user.casefold() or plain in _PLACEHOLDERS or _TEMPLATE.match(password) is not None


def _replace_assigned(match: re.Match[str]) -> str:
    name = (match.groupdict().get("name") or "password").strip("-.")
    value = match["value"]
    if _unquote(value).casefold() in _HARMLESS or REDACTED in value:
        return match[0]
    start, end = (place - match.start() for place in match.span("value"))
    return f"{match[0][:start]}{REDACTED}{name}]{match[0][end:]}"


def _unquote(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] in "\"'" and value[-1] == value[0] else value


def assigned_secrets(text: str) -> dict[str, str]:
    """Names and values of the secrets that a text from a file that is known to hold them assigns."""
    found = {match["name"]: _unquote(match["value"]) for match in _ASSIGNMENTS.finditer(text)}
    found |= {f"password-{number}": match["value"] for number, match in enumerate(_PGPASS.finditer(text), 1)}
    return {name: value for name, value in found.items() if value.casefold() not in _HARMLESS | _PLACEHOLDERS}


def environment_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """Values of variables whose names say that they are secret."""
    return {
        name: value
        for name, value in environ.items()
        if _NAMES.search(name) and len(value) >= _MIN_LENGTH and not value.startswith("/")
    }
