"""Figures that a report says were measured: coverage, speed, memory, sizes.

Such a figure needs a command of the task that printed it, or printed the two figures that it compares. What a report
cites from a file, plans or only estimates is no measurement of its own.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple

from sidecar.verify.prose import find_doubt, sentences

_N = r"\d{1,9}(?:[.,]\d{1,6})?"
_COVER = r"(?:coverage|test\s?abdeckung|abdeckung|couverture|cobertura|copertura)"
_PERCENT = r"\s?(?:%|percent|prozent|per cent|pour cent|por ciento|por cento)"
_TIMES = r"(?:\s?[x×]|[\s-]?(?:times|fold|mal|fois|veces|vezes|volte))"
_WORDS = {"twice": 2, "two": 2, "three": 3, "four": 4, "five": 5, "ten": 10, "doppelt": 2, "zweimal": 2, "dreimal": 3}
_WORD = "|".join(_WORDS)
_ABOUT = (
    r"(?:under|below|less than|about|around|roughly|nearly|almost|over|up to|more than|at least|approximately|some|"
    r"etwa|rund|~|≈)?\s*"
)
_FASTER = (
    r"(?:faster|quicker|as fast|as quick|speed-?\s?ups?|schneller|so schnell|plus rapides?|más rápid[oa]|"
    r"mais rápid[oa]|più veloce)"
)
_LESS = r"(?:(?:less|lower|smaller|fewer|higher|more|reduced|shorter|better|lighter|weniger|kleiner|geringer)\b)"
_METRIC = re.compile(
    r"\b(?:\w*time|times|speed|latency|throughput|performance|memory|ram|rss|heap|allocat\w+|cpu|bundle|"
    r"binary|payload|"
    r"startup|duration|qps|rps|benchmark\w*|p\d\d|ratio|cold start|\w*zeit|\w*dauer|speicher\w*|accuracy|"
    r"precision|recall|f1)\b",
    re.IGNORECASE,
)
#: Verbs whose amount was measured, if there is a unit.
_RAN = re.compile(
    r"\b(?:takes?|took|runs?|ran|went|drop\w*|fell|falls|down|finish\w*|uses|needs|builds?|starts?|loads?|imports?|"
    r"reduc\w+|cut|serves|handles|dauert|braucht)\b",
    re.IGNORECASE,
)
_UNIT = (
    r"(?:ns|µs|μs|us|ms|s|sec|secs|seconds?|milliseconds?|microseconds?|min|minutes?|sekunden|kb|mb|gb|kib|mib|gib|"
    r"bytes|ops/s|ops/sec|req/s|requests/s|requests per second|rps|qps|it/s|mb/s|rows/s)"
)
_SCALES = {
    **dict.fromkeys(("ns",), 1e-9),
    **dict.fromkeys(("µs", "μs", "us", "microsecond", "microseconds"), 1e-6),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("kb", "kib"), 1e3),
    **dict.fromkeys(("mb", "mib", "mb/s"), 1e6),
    **dict.fromkeys(("gb", "gib"), 1e9),
}
#: It cites or estimates, or says that it measured nothing.
_CITES = re.compile(
    r"\b(?:says?|said|states?|stated|claims?|claimed|mentions?|mentioned|according|documents?|documented|describes?|"
    r"readme|changelog|badges?|upstream|release notes|quot\w+|asked|wanted|request was|"
    r"(?:in|by|per|from) the (?:docs|documentation|issue|paper|article|comments?|docstring)|estimat\w+|"
    r"expect\w*|theor\w+|"
    r"complexity|likely|probably|perhaps|potential\w*|hop(?:e|ing)|aim\w*|(?:un|not |never )measured|geschätzt|"
    r"vermutlich|selon|según|segundo)\b|n't (?:measure|benchmark|time|run)|"
    r"not (?:been )?(?:measure|benchmark|time|verif)|\bO\(",
    re.IGNORECASE,
)
#: It names a setting, a limit or a schedule.
_SETS = re.compile(
    r"\b(?:thresholds?|fail[-_ ]under|requires?|required|minimum|maximum|targets?|goals?|limits?|limited|capped|"
    r"budgets?|"
    r"time-?outs?|intervals?|delays?|ttl|expir\w+|defaults?|config\w*|settings?|set to|debounce\w*|retr(?:y|ies)|"
    r"sleeps?|waits?|at most|every|animation\w*|transition\w*|zoom|scal(?:e|es|ed|ing)|retina)\b",
    re.IGNORECASE,
)
#: It is the task's own result, whatever was read.
_OWN = re.compile(
    r"\b(?:now|after|new|went|from|reduc\w+|improv\w+|dropp?\w*|rose|ris\w+|increas\w+|decreas\w+|measur\w+|"
    r"benchmark\w*|raised|cut|jetzt|nun|gemessen|ahora|maintenant|agora|my|this change|i|we)\b",
    re.IGNORECASE,
)
#: The sentence before it claims nothing.
_TAKES_BACK = re.compile(
    r"(?:\b(?:not|never|un)|n't)\s*(?:(?:been|actually|really|yet) ){0,2}(?:measured?|benchmark\w*|timed?)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`[^`\n]{1,200}`|“[^”\n]{1,200}”|\"[^\"\n]{1,200}\"")
_MENTIONS = re.compile(r"\d|\b(?:" + _WORD + r"|halv\w+|doubl\w+|halbiert|verdoppelt)\b", re.IGNORECASE)

Kind = Literal["coverage", "gain", "rate", "amount"]


class Measure(NamedTuple):
    kind: Kind
    #: Percent, or a number in seconds or bytes; of a gain, the ratios that it may mean.
    numbers: tuple[float, ...]
    #: The words that claim it.
    text: str
    #: As written, to look for it in what was read.
    written: str
    #: It says what the task itself measured.
    own: bool
    #: The sentence is about the tests themselves.
    of_tests: bool
    #: It is the difference of two figures.
    by: bool = False


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Compiled on first use: few reports need them."""
    texts = {
        "coverage": rf"\b{_COVER}\b[^.;\n]{{0,80}}?(?:(?:from\s+)?{_N}{_PERCENT}?\s*(?:to|→|->|auf|à|a|para)\s*)?"
        rf"(?P<n>{_N}){_PERCENT}|(?P<m>{_N}){_PERCENT}\s+(?:\w+\s+){{0,2}}?{_COVER}\b"
        rf"|\bcover\w*\s+(?P<o>{_N}){_PERCENT}\s+of\s+(?:the\s+)?(?:lines|code|branches|statements)",
        "times": rf"(?:(?P<n>{_N}){_TIMES}|\b(?P<w>{_WORD})(?:[\s-](?:times|fold))?)\s*(?:\w+\s+)?"
        rf"(?P<what>{_FASTER}|{_LESS}|improvement|gain)",
        "factor": rf"(?:{_FASTER}|improvement|gain|by a factor)\s*(?:of|by|:|is|um|"
        rf"factor)?\s*{_ABOUT}(?P<n>{_N})(?:{_TIMES}|\b(?!\s?%))",
        "percent": rf"(?P<n>{_N}){_PERCENT}\s+(?:\w+\s+)?(?:{_FASTER}|{_LESS}|improvement|reduction|gain|"
        rf"decrease|speed-?up)",
        "change": rf"\b(?:reduc|cut|improv|lower|decreas|increas|shr[aiu]nk|sped|speed|drop|went|f[ae]ll|"
        rf"r[io]se|shav|sav|"
        rf"beschleunig|reduzier|senk|verringer)\w*\b[^.;\n]{{0,80}}?\b(?:by|um|de)\s+{_ABOUT}(?P<n>{_N})"
        rf"(?:(?P<p>{_PERCENT})|{_TIMES})",
        "saved": rf"\b(?:sav|shav|cut|elimin|trim)\w*\s+{_ABOUT}(?P<n>{_N})(?P<p>{_PERCENT})\s+(?:of|off)\b",
        "rate": rf"\b(?:accuracy|precision|recall|f1|(?:hit|success|pass|error)[\s-]rate)\b[^.;\n]{{0,60}}?\b"
        rf"(?P<n>{_N}){_PERCENT}",
        "double": r"\b(?P<w>halv(?:e|es|ed|ing)|doubl(?:e|es|ed|ing)|halbiert|verdoppelt)\b",
        "amounts": rf"\b(?:from|von)\s+{_ABOUT}(?P<a>{_N})\s?(?P<u>{_UNIT})?\s*(?:\([^)]*\)\s*)?(?:down\s+|up\s+)?"
        rf"(?:to|→|->|auf)\s+{_ABOUT}(?P<b>{_N})\s?(?P<v>{_UNIT})\b|(?P<c>{_N})\s?(?P<x>{_UNIT})\s*(?:→|->)\s*"
        rf"(?P<d>{_N})\s?(?P<y>{_UNIT})\b|(?P<e>{_N})\s?(?P<z>{_UNIT})(?=,?\s+(?:rather than|instead of|"
        rf"down from|vs\.?|"
        rf"versus|compared (?:to|with))\s+{_N})",
        "now": rf"\b(?:now|jetzt|benchmark\w*)\s+(?:(?!at\b|on\b|for\b|by\b|from\b|"
        rf"to\b)\w+\s+){{0,3}}?{_ABOUT}(?P<n>{_N})\s?(?P<u>{_UNIT})(?!\w)"
        rf"|(?P<m>{_N})\s?(?P<v>{_UNIT})\s+(?:now|jetzt)\b",
    }
    return {name: re.compile(text, re.IGNORECASE) for name, text in texts.items()}


def parse_measures(report: str) -> list[Measure]:
    """The measured figures that a report claims as plain statements."""
    found: list[Measure] = []
    for sentence, following in pairwise([*sentences(report), ""]):
        # What is quoted is no statement; the rest keeps its place.
        plain = _QUOTED.sub(lambda quoted: "`" + "_" * (len(quoted[0]) - 2) + "`", sentence.replace("’", "'"))
        if not _MENTIONS.search(plain) or _CITES.search(plain) or _TAKES_BACK.search(following.replace("’", "'")):
            continue
        doubt = find_doubt(plain)
        for (start, end), each in _measures(plain):
            if end <= doubt:
                found.append(each._replace(text=sentence[start:end].strip()))
    return list(dict.fromkeys(found))


def _measures(sentence: str) -> Iterator[tuple[tuple[int, int], Measure]]:
    """With their places, each word claiming one figure at most."""
    own = _OWN.search(sentence) is not None
    of_tests = re.search(r"\b(?:tests?|suite)\b", sentence, re.IGNORECASE) is not None
    taken: list[tuple[int, int]] = []
    for match, kind, numbers, written in (*_coverages(sentence), *_gains(sentence), *_amounts_said(sentence)):
        start, end = match.span()
        if all(end <= first or start >= last for first, last in taken):
            taken.append((start, end))
            by = kind == "coverage" and re.search(rf"\bby {_ABOUT}{re.escape(written)}", match[0], re.I) is not None
            yield (start, end), Measure(kind, numbers, match[0].strip(), written, own, of_tests, by)


_Claim = tuple[re.Match[str], Kind, tuple[float, ...], str]


def _coverages(sentence: str) -> Iterator[_Claim]:
    for match in () if _SETS.search(sentence) else _patterns()["coverage"].finditer(sentence):
        written = match["n"] or match["m"] or match["o"]
        yield match, "coverage", (_number(written),), written


def _gains(sentence: str) -> Iterator[_Claim]:
    metric = _METRIC.search(sentence) is not None and not _SETS.search(sentence)
    for name in ("times", "factor", "percent", "change", "saved", "double"):
        for match in _patterns()[name].finditer(sentence):
            if not (metric or re.search(rf"{_FASTER}|\bspe+d", match[0], re.IGNORECASE)):
                continue
            groups = match.groupdict()
            written = groups.get("n") or groups.get("w") or ""
            value = _number(groups["n"]) if groups.get("n") else float(_WORDS.get(written.lower(), 2))
            percent = name == "percent" or groups.get("p") is not None
            yield match, "gain", _ratios(value, percent=percent), written


def _amounts_said(sentence: str) -> Iterator[_Claim]:
    patterns, metric = _patterns(), _METRIC.search(sentence) is not None
    if _SETS.search(sentence) or not (metric or _RAN.search(sentence)):
        return
    for rate in patterns["rate"].finditer(sentence):
        yield rate, "rate", (_number(rate["n"]),), rate["n"]
    for match in patterns["amounts"].finditer(sentence):
        number, unit = next((match[n], match[u]) for n, u in ("bv", "dy", "ez") if match[n])
        yield match, "amount", (_scaled(number, unit),), number
    for match in patterns["now"].finditer(sentence):
        if match["n"] or metric:
            number, unit = (match["n"], match["u"]) if match["n"] else (match["m"], match["v"])
            yield match, "amount", (_scaled(number, unit),), number


def _ratios(value: float, *, percent: bool) -> tuple[float, ...]:
    if not percent:
        return (value, value + 1)  # "3 times faster" may mean either
    return (1 + value / 100, *([1 / (1 - value / 100)] if value < 100 else []))


def _number(word: str) -> float:
    return float(word.replace(",", ".") if re.fullmatch(r"\d+,\d{1,2}", word) else word.replace(",", ""))


def _scaled(number: str, unit: str | None) -> float:
    return _number(number) * _SCALES.get((unit or "").lower(), 1.0)


# -- what the commands printed ---------------------------------------------------------------------------------------

_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
#: Lines of test runners: their progress and their own time.
_RUNNER = re.compile(
    r"\[ *\d+%\]|\b\d+ (?:passed|failed|passing)\b|^Ran \d+ tests|duration_ms|^ *(?:Time|Duration|Tests|"
    r"Test Files):?\s|^(?:ok|FAIL)\s+\S+\s+[\d.]+s"
)
_COVER_LINE = re.compile(
    rf"{_COVER}|\bTOTAL\b|All files|\bcover|\b(?:lines|stmts|branch\w*|statements|functions)\b", re.IGNORECASE
)
_FIGURE = re.compile(
    rf"(?<![\w.])(?P<n>\d{{1,12}}(?:[.,]\d{{1,9}})?(?:e[-+]\d+)?)\s?(?P<u>{_UNIT}\b|[x×]|%)?", re.IGNORECASE
)
_METRIC_LINE = re.compile(
    r"time|\bms\b|sec|dur|bench|mean|avg|average|median|min|max|total|size|bytes|mem|rss|peak|ops|req|before|"
    r"after|old|new|elapsed|real|user|latency|speed|faster|best of",
    re.IGNORECASE,
)
_MAX_FIGURES = 200


class Shown(NamedTuple):
    """What the task's commands printed, and what else its agents read."""

    printed: Sequence[str] = ()
    read: Sequence[str] = ()


def find_unmeasured(report: str, shown: Callable[[], Shown], *, cites: bool) -> list[str]:
    """The figures that the report claims and no command printed. `cites`: it may cite any figure that was read."""
    if not (measures := parse_measures(report)):
        return []
    printed, read = shown()
    lines = [line for text in printed for line in _ESCAPES.sub("", text).splitlines()]
    return [
        measure.text
        for measure in measures
        if not _proven(measure, lines) and not ((cites or not measure.own) and _was_read(measure, read))
    ]


def _was_read(measure: Measure, read: Sequence[str]) -> bool:
    figure = re.compile(
        rf"(?<![\w.]){re.escape(measure.written)}(?:\s?(?:%|[x×]\b|{_UNIT}\b)|{_TIMES}\b)", re.IGNORECASE
    )
    return any(figure.search(text) for text in read)


def _proven(measure: Measure, lines: Sequence[str]) -> bool:
    if measure.kind == "coverage":
        figures = [_number(each["n"]) for line in lines if _COVER_LINE.search(line) for each in _percentages(line)]
        if measure.by:
            return any(abs(abs(a - b) - measure.numbers[0]) < 0.6 for a in figures for b in figures)
        return any(_rounds_to(each, measure.numbers[0]) for each in figures)
    shown = [line for line in lines if measure.of_tests or not _RUNNER.search(line)]
    if measure.kind == "rate":
        said = measure.numbers[0]
        return any(
            _rounds_to(_number(each["n"]) * scale, said)
            for line in shown
            for each in _figures(line)
            for scale in (1, 100)
        )
    if measure.kind == "amount":
        goal = measure.numbers[0]
        low = 0.3 if re.search(r"\b(?:under|below|less than|up to|over|more than)\b", measure.text) else 0.94
        return any(low * goal <= each <= goal * (2 - low) for each in _amounts(shown))
    direct = [
        _number(figure["n"]) for line in shown for figure in _figures(line) if figure["u"] in ("x", "X", "×", "%")
    ]
    if measure.written[:1].isdigit() and any(_rounds_to(each, _number(measure.written)) for each in direct):
        return True
    amounts = [each for each in _amounts(shown) if each > 0][-_MAX_FIGURES:]
    return any(
        abs(high / low - ratio) <= max(0.2 * (ratio - 1), 0.02)
        for ratio in measure.numbers
        for low in amounts
        for high in amounts
        if high > low
    )


def _figures(line: str) -> list[re.Match[str]]:
    return list(_FIGURE.finditer(re.sub(r"\[ *\d+%\]", "", line)))


def _percentages(line: str) -> list[re.Match[str]]:
    """Those with a sign; in a table without signs, the figures with decimals."""
    figures = _figures(line)
    return [each for each in figures if each["u"] == "%"] or [each for each in figures if "." in each["n"]]


def _amounts(lines: Sequence[str]) -> list[float]:
    """Figures with a unit, with decimals, or on a line about time or size."""
    return [
        _scaled(figure["n"], figure["u"])
        for line in lines
        for figure in _figures(line)
        if figure["u"] not in ("%", "x", "X", "×") and (figure["u"] or "." in figure["n"] or _METRIC_LINE.search(line))
    ]


def _rounds_to(figure: float, said: float) -> bool:
    return abs(figure - said) < (1.0 if said == int(said) else 0.06)
