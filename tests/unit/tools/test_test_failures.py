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
    return rendered(pytest_output(errors))


def rendered(output: str) -> str:
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


def test_failures_of_one_line_are_one_cause_whatever_names_they_quote() -> None:
    def failed(number: int) -> str:
        return (
            f"_____ test_{number} _____\ntests/test_a.py:{number}: in test_{number}\n    Schema{number}().dump()\n"
            f"src/schema.py:517: in _serialize\n    ret = self.dict_clas()\n"
            f"E   AttributeError: 'Schema{chr(65 + number)}' object has no attribute 'dict_clas'\n"
        )

    names = [f"tests/test_a.py::test_{number}" for number in range(20)]
    short = "".join(
        f"FAILED {name} - AttributeError: 'Schema{chr(65 + number)}' object has no attribute 'dict_clas'\n"
        for number, name in enumerate(names)
    )
    other = "_____ test_b _____\ntests/test_b.py:3: in test_b\n    assert f() == 1\nE   assert 2 == 1\n"
    output = "".join(map(failed, range(20))) + other + f"=== short test summary info ===\n{short}"
    output += "FAILED tests/test_b.py::test_b - assert 2 == 1\n21 failed in 1.0s\n"

    text = rendered(output)

    assert text.count("tests: ") == 1 and text.startswith("20 tests: AttributeError")
    assert "src/schema.py:517: in _serialize" in text
    assert "1 test: assert 2 == 1" in text


def test_many_long_names_leave_room_for_the_traceback() -> None:
    where = "".join(f"src/a.py:{number}: in f{number}\n    call()\n" for number in range(4))
    names = [f"tests/test_{'x' * 80}.py::test_{number}" for number in range(40)]
    sections = "".join(
        f"_____ test_{number} _____\n{where}E   NameError: name 'y' is not defined\n" for number in range(40)
    )
    output = f"{sections}=== short test summary info ===\n" + "".join(
        f"FAILED {name} - NameError: name 'y' is not defined\n" for name in names
    )

    text = rendered(f"{output}40 failed in 1.0s\n")

    assert where in text and len(text) <= 3_000
    assert f"{names[5]}, " in text


def test_a_failure_with_a_long_name_is_shown_with_its_traceback() -> None:
    name = f"test_it[{'x' * 90}]"
    section = f"_ {name} _\ntests/test_a.py:1: in test_it\n    f()\nE   NameError: name 'y' is not defined\n"
    text = rendered(f"{section}=== short test summary info ===\nFAILED tests/test_a.py::{name}\n1 failed in 1.0s\n")

    assert "1 test: NameError" in text and "tests/test_a.py:1: in test_it" in text


TAP = """not ok 1 - adds
  ---
  duration_ms: 1.1
  location: '/w/a.test.ts:1:7863'
  failureType: 'testCodeFailure'
  error: |-
    Expected values to be strictly equal:

    2 !== 3

  code: 'ERR_ASSERTION'
  name: 'AssertionError'
  stack: |-
    TestContext.<anonymous> (file:///w/a.test.ts:2:29)
    Test.run (node:internal/test_runner/test:796:25)
  ...
    # Subtest: inner
    not ok 1 - inner
      ---
      error: 'no such thing'
      code: 'ERR_TEST_FAILURE'
      name: 'TypeError'
      stack: |-
        f (/w/a.ts:4:66)
      ...
# pass 1
# fail 2
"""
SPEC = """✖ adds (1.4ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

  2 !== 3

      at TestContext.<anonymous> (file:///w/a.test.ts:2:29)
      at Test.run (node:internal/test_runner/test:796:25) {
    code: 'ERR_ASSERTION',
  }

✔ fine (0.1ms)
▶ outer
  ✖ inner (0.1ms)
    TypeError [Error]: no such thing
        at f (/w/a.ts:4:66)

✖ outer (0.2ms)
ℹ pass 1
ℹ fail 3
"""


def test_failures_of_nodes_runner_have_their_error_and_place() -> None:
    tap, spec = parse_report("npm", TAP, 1), parse_report("npm", SPEC, 1)
    assert [tuple(each) for each in tap.failures] == [
        ("adds", "AssertionError: Expected values to be strictly equal: 2 !== 3 (/w/a.test.ts:2:29)"),
        ("inner", "TypeError: no such thing (/w/a.ts:4:66)"),
    ]
    assert [tuple(each) for each in spec.failures] == [
        ("adds", "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 2 !== 3 (/w/a.test.ts:2:29)"),
        ("inner", "TypeError [Error]: no such thing (/w/a.ts:4:66)"),
        ("outer", ""),
    ]
    assert "1 test: TypeError: no such thing (/w/a.ts:4:66)\n  inner" in render_failures(tap, TAP)


def test_the_last_exception_of_a_chain_names_the_failure() -> None:
    chain = "StopIteration\n\nDuring handling of the above exception, another exception occurred:\na.py:1: in f\n"
    assert rendered(pytest_output([f"{chain}E   LookupError: no"])).startswith("1 test: LookupError: no\n")
