"""What a model reads of a failed test run."""

from tools.test_report import parse_report, render_failures


def pytest_output(errors: list[str]) -> str:
    sections = []
    for number, error in enumerate(errors):
        trace = "\n".join(
            f"src/module_{line}.py:{line}: in function_{line}\n    return call_{line}()" for line in range(20)
        )
        sections.append(
            f"_______ test_{number} _______\ntests/test_a.py:{number}: in test_{number}\n{trace}\nE   {error}"
        )
    summary = [f"FAILED tests/test_a.py::test_{number} - {error}" for number, error in enumerate(errors)]
    return "\n".join(
        ["=== FAILURES ===", *sections, "=== short test summary info ===", *summary, f"{len(errors)} failed in 1.20s"]
    )


def shown(errors: list[str]) -> str:
    output = pytest_output(errors)
    return render_failures(parse_report("pytest", output, 1), output)


def test_a_hundred_failures_of_one_error_are_one_traceback_a_count_and_ten_names() -> None:
    text = shown(["NameError: name 'frob' is not defined"] * 102)
    assert len(text) <= 3_000
    assert text.count("E   NameError: name 'frob' is not defined") == 1
    assert text.startswith("102 tests: NameError: name 'frob' is not defined\n  tests/test_a.py::test_0, ")
    assert "tests/test_a.py::test_9, 92 more" in text


def test_each_distinct_error_has_its_traceback_and_all_of_them_stay_short() -> None:
    text = shown([f"AssertionError: {word}" for word in ("one", "two", "three")] * 5)
    assert len(text) <= 3_000
    for word in ("one", "two", "three"):
        assert f"E   AssertionError: {word}" in text
        assert f"5 tests: AssertionError: {word}" in text


def test_values_that_differ_make_no_new_kind_and_many_kinds_are_counted() -> None:
    assert shown([f"assert {number} == 0" for number in range(40)]).startswith("40 tests: assert 0 == 0")
    text = shown([f"Error{chr(97 + number)}: no" for number in range(20)])
    assert "12 more kinds of failure" in text
    assert len(text) <= 4_000


def test_output_without_known_failures_is_its_end_in_whole_lines() -> None:
    output = "\n".join(f"line number {number}" for number in range(5_000))
    text = render_failures(parse_report("make", output, 2), output)
    assert len(text) <= 3_000
    assert text.endswith("line number 4999")
    assert all(line.startswith(("line number", "…")) for line in text.splitlines())
