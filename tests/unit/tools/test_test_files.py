import pytest

from tools.test_files import holds_tests, is_test


@pytest.mark.parametrize("path", ["tests/a.py", "test_a.py", "src/a.test.ts", "a_test.go", "src/__tests__/a.js"])
def test_tests_are_known_by_their_names(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize("path", ["tests/conftest.py", "tests/data.json", "src/PriceTest.java", "shop/tests.py"])
def test_files_that_help_tests_belong_to_them(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize("path", ["src/testing.py", "contest.py", "src/latest.py", "a.ts"])
def test_code_that_only_sounds_like_a_test_belongs_to_none(path: str) -> None:
    assert not is_test(path)


@pytest.mark.parametrize(
    "path", ["test_a.py", "src/a_test.py", "a_test.go", "web/a.test.ts", "a.spec.js", "a-test.js", "tests/a.rs"]
)
def test_a_framework_collects_a_file_for_its_name_or_folder(path: str) -> None:
    assert holds_tests(path)
    assert is_test(path)


@pytest.mark.parametrize("path", ["testing.py", "src/latest.py", "contest.go", "tests/data.json", "a.ts"])
def test_what_only_sounds_like_a_test_is_not_collected(path: str) -> None:
    assert not holds_tests(path)
