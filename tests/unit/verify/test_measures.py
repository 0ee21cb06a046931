import pytest

from sidecar.verify.measures import Shown, find_unmeasured

TESTS = "........ [ 94%]\n.... [100%]\n12 passed in 2.31s\n"


def unmeasured(report: str, *printed: str, read: str = "", cites: bool = False) -> list[str]:
    return find_unmeasured(report, lambda: Shown((TESTS, *printed), (read,)), cites=cites)


@pytest.mark.parametrize(
    "report",
    [
        "Coverage is now 94 %.",
        "Fixed the parser. Test coverage rose from 81% to 94%.",
        "The module has 94% line coverage.",
        "Coverage: 94%",
        "Tests now cover 92% of the lines.",
        "Die Testabdeckung liegt jetzt bei 94 %.",
        "La cobertura es ahora del 94 %.",
        "The lookup is now 3x faster.",
        "Parsing is three times faster than before.",
        "This makes startup 40% faster.",
        "The new loop is twice as fast.",
        "I cut memory usage by 60%.",
        "Reduced the runtime from 2.1 s to 0.7 s.",
        "The function now runs in 12 ms.",
        "Throughput doubled after the change.",
        "The bundle is 35% smaller.",
        "Latency dropped by 45 percent.",
        "A speedup of 4.5x over the old version.",
        "The query went from 420 ms to 31 ms.",
        "Die Suche ist jetzt 3-mal schneller.",
        "It uses 2.5x less memory.",
        "Build time improved by about 30%.",
        "p95 latency is now 40 ms.",
        "- Performance: 10x faster\n- Tests pass",
        "Benchmarks show a 3.2x speedup.",
        "It now handles 12,000 requests per second.",
        "Memory went from 120 MB → 45 MB.",
        "Increased coverage by 13%.",
        "La recherche est 3 fois plus rapide.",
        "Fixed the issue: lookups are 3x faster.",
        "With default settings it is 3x faster.",
        "The suite now takes 0.7 s instead of 2.1 s.",
        "Startup time was cut in half, from 800 ms to 390 ms.",
        "Speeds up parsing by 5x.",
        "Requests are served 25% faster on average.",
        "Peak RSS is down 30%, from 210 MB to 147 MB.",
        "Coverage for `parser.py` went from 71 % to 100 %.",
        "100% branch coverage.",
        "**Result:** 4× faster, 60 % less memory.",
        "Now runs in under 50 ms.",
        "Verified: 5-fold speedup.",
        "Performance improved by 3x.",
        "We now have 94% coverage.",
        "Achieved a 5x performance gain.",
        "The endpoint responds 3 times faster than it did.",
        "Response time fell from 900ms to 120ms.",
        "CPU usage is 40% lower.",
        "It allocates 80% fewer objects.",
        "After the change, imports take 35 ms rather than 210 ms.",
        "Overall test coverage increased to 94%.",
        "Line coverage 94.3 %, branch coverage 91 %.",
        "Memory footprint shrank by 30%.",
        "Rendering is now roughly 10x quicker.",
        "Sorting 1M rows dropped from 4.2s to 1.1s.",
        "I benchmarked it: 2.4x faster.",
        "The p99 went down by 55%.",
        "Accuracy is now 97.5%.",
        "Compression ratio improved by 12%.",
        "Cold start is under 200 ms now.",
        "Coverage: 81% → 94%",
        "Saves 30% of the build time.",
    ],
)
def test_a_figure_that_nothing_printed_is_not_measured(report: str) -> None:
    assert unmeasured(report) != []
    assert unmeasured(report, read="def lookup(): ...  # 3 retries, 94 lines") != []


@pytest.mark.parametrize(
    ("report", "printed"),
    [
        ("Coverage is now 94 %.", "Name  Stmts Miss Cover\na.py 100 6 94%\nTOTAL 100 6 94%"),
        ("Coverage is now 94 %.", "All files | 94.12 | 80.3 |"),
        ("Coverage rose from 81% to 94%.", "TOTAL 100 19 81%\nTOTAL 100 6 93.8%"),
        ("Increased coverage by 13%.", "TOTAL 100 19 81%\nTOTAL 100 6 94%"),
        ("The lookup is now 3x faster.", "before 2.10 s\nafter 0.70 s"),
        ("The lookup is 3x faster (2.1 s before, 0.7 s now).", "2.1\n0.7\n"),
        ("It is about 40% faster.", "old: 1.00\nnew: 0.71"),
        ("It is 1.8x faster.", "speedup 1.83x"),
        ("The function now runs in 12 ms.", "mean 0.0121 s"),
        ("It now takes under 50 ms.", "best of 5: 41 ms"),
        ("The query went from 420 ms to 31 ms.", "took 419.6 ms\ntook 31.2 ms"),
        ("The tests now take 2.3 s.", ""),
        ("Accuracy is now 97.5%.", "accuracy: 0.9749"),
        ("Imports take 35 ms rather than 210 ms.", "total 35.2 ms"),
    ],
)
def test_a_figure_that_a_command_printed_is_measured(report: str, printed: str) -> None:
    assert unmeasured(report, printed) == []


@pytest.mark.parametrize(
    "report",
    [
        "The lookup should be about 3x faster, but I did not measure it.",
        "I set the timeout to 30 s and the retry delay to 500 ms.",
        "Raised `fail_under` to 94 and the coverage threshold to 94%.",
        "The font is now 20% smaller.",
        "The sidebar now takes 30% less width.",
        "The new cache avoids a second query; it is O(1) instead of O(n). Not measured.",
        "I doubled the quotes in the SQL string.",
        "The function now returns 3 times the value, as asked.",
        "Retries run three times, with a delay that doubles each time.",
        "It doubles the buffer size when it is full.",
        "Changed the default width from 80 to 100.",
        "`from 2 s to 5 s` is the new range of the slider.",
        "The cache now uses 64 MB at most.",
        "The image is now 2x larger on retina screens.",
        "Cut the release 2.1 from main.",
        "Increased the page size from 20 to 50 items.",
        "The scheduler now runs at 5 min intervals.",
        "The upload limit was raised from 10 MB to 20 MB.",
        "The worker now runs every 10 minutes.",
        "The job starts in 5 seconds now instead of immediately.",
        "The animation now takes 200 ms.",
        "Coverage could not be measured: pytest-cov is not installed.",
        "Without the index it was 3x slower; I added it.",
        "Throughput is unchanged.",
        "Parsing is now 3x faster. I haven't benchmarked it.",
        "Parsing is now 3x faster. That wasn’t actually measured.",
        "Parsing is now 3x faster. Not measured.",
        "Parsing is now 3x faster (it didn’t run: I couldn’t measure).",
        "The docs now cover 3 of the 4 options.",
        "Added a discount of 20% more than before.",
        "Increased the memory limit by 50%.",
        "The fee is reduced by 10% for members.",
        "The chunk size is cut in half when memory runs low.",
        "I added 3 tests; the whole suite (12 tests) passes in 2.3 s.",
        "The retry backoff now doubles each time up to 30 s.",
        "Set the cache TTL from 60 s to 300 s.",
        "Users now see 3 more options.",
        "The table is twice as wide as before.",
        "Bumped the version from 1.2 to 1.3.",
        "The button is 20% smaller on mobile.",
        "It handles files larger than 2 GB now.",
        "The loop runs three times instead of twice.",
        "I moved 4 of 5 functions; the rest needs less work.",
        "This reduces the number of queries from N+1 to 2.",
        "`pytest --cov` is not installed, so I have no coverage figure.",
        "It avoids copying the list twice, which should be faster.",
        "The new default page size is 50, down from 100.",
        "Replaced O(n²) by O(n log n).",
        "The config now allows 10 MB uploads.",
        "Tests cover the three branches of the `if`.",
        "100% backwards compatible.",
        "The progress bar now ends at 100% instead of 80%.",
        "The discount is now 15% instead of 10%.",
        "Reduced the limit from 100 to 50 requests per second.",
        "The gzip level went from 9 to 6.",
        "The window moves by 5 px now.",
        "Increased `max_workers` by 2.",
        "Loading 3 times in a row no longer fails.",
        "The field now takes at most 5 MB.",
        "It's now 2 times in the list.",
        "The tests take about 2 s.",
        "Dropped support for Python 3.8.",
        "Cut 120 lines from the parser.",
        "It now uses half as many lines.",
        "Halved the padding and doubled the margin.",
        "The timer now fires 1 s later.",
        "The polling loop now waits 2 seconds longer.",
        "Now sleeps for 5 seconds less.",
        "Sessions now start at 9 min past the hour.",
    ],
)
def test_citations_settings_and_estimates_are_no_measurements(report: str) -> None:
    assert unmeasured(report) == []


def test_a_figure_that_was_only_read_may_be_cited_but_is_no_result() -> None:
    source = "The new parser is 3x faster than the old one."
    assert unmeasured("The parser is 3x faster than the old one.", read=source) == []
    assert unmeasured("The parser is now 3x faster.", read=source) != []
    assert unmeasured("The parser is now 3x faster.", read=source, cites=True) == []


def test_each_figure_of_a_sentence_is_claimed_and_quoted_as_written() -> None:
    report = "Coverage of `_ranges.py` is 100 %, and parsing is 20% faster."
    assert unmeasured(report) == ["Coverage of `_ranges.py` is 100 %", "20% faster"]
    assert unmeasured(report, "TOTAL 50 0 100%") == ["20% faster"]


def test_neither_progress_nor_the_missed_lines_are_a_coverage() -> None:
    assert unmeasured("Coverage is now 70 %.", "a.py 100 70 30%\nTOTAL 100 70 30%") == ["Coverage is now 70 %"]


@pytest.mark.timeout(5)
@pytest.mark.parametrize("piece", ["coverage ", "from 1 ", "reduced by ", "now a ", "1 % ", "3x "])
def test_the_longest_reports_are_no_trouble(piece: str) -> None:
    unmeasured(piece * (200_000 // len(piece)))
