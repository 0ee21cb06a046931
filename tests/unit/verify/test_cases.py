import pytest

from sidecar.verify.cases import find_cases


def python(body: str, head: str = "") -> tuple[bool, bool]:
    """Whether a test with this body asserts something, and whether it is skipped."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    (case,) = find_cases("test_a.py", f"{head}\ndef test_it(x):\n{lines}\n".encode()).values()
    return case.asserts, case.skipped


@pytest.mark.parametrize(
    "body",
    [
        "assert add(1, 2) == 3",
        "with pytest.raises(ValueError):\n    f()",
        "self.assertEqual(f(), 3)",
        "mock.assert_called_once()",
        "for each in x:\n    assert each",
        "if not f():\n    raise AssertionError",
        "check_everything(x)",
        "expect(f()).to_be(3)",
        "np.testing.assert_allclose(f(), 3)",
        "try:\n    f()\nexcept ValueError:\n    pass\nelse:\n    pytest.fail('no')",
        "helper(x)",
    ],
)
def test_a_python_test_that_can_fail_is_known(body: str) -> None:
    assert python(body, "def helper(x):\n    assert x\n") == (True, False)


@pytest.mark.parametrize(
    "body",
    [
        "pass",
        "...",
        '"""It works."""',
        "add(1, 2)",
        "assert True",
        "assert 1 == 1",
        "assert 'text'",
        "assert x == x",
        "assert not False",
        "assert (add(1, 2) == 4, 'always true')",
        "assert True or add(1, 2) == 4",
        "self.assertTrue(True)",
        "try:\n    assert add(1, 2) == 4\nexcept AssertionError:\n    pass",
        "try:\n    assert add(1, 2) == 4\nexcept:\n    pass",
        "print(add(1, 2))",
    ],
)
def test_a_python_test_that_can_never_fail_is_known(body: str) -> None:
    assert python(body) == (False, False)


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("@pytest.mark.skip", "assert f()"),
        ("@pytest.mark.skipif(True, reason='x')", "assert f()"),
        ("@pytest.mark.xfail", "assert f()"),
        ("@unittest.skip('x')", "assert f()"),
        ("", "pytest.skip('not now')\nassert f()"),
        ("pytestmark = pytest.mark.skip\n", "assert f()"),
    ],
)
def test_a_python_test_that_is_skipped_is_known(head: str, body: str) -> None:
    assert python(body, head) == (True, True)


def test_python_tests_have_the_names_that_pytest_gives_them() -> None:
    text = b"""
class TestOne:
    def test_a(self):
        assert f()
    def helper(self): ...
class Two(unittest.TestCase):
    def test_b(self):
        self.assertTrue(f())
async def test_c():
    assert f()
def other(): ...
"""
    assert list(find_cases("test_a.py", text)) == ["TestOne::test_a", "Two::test_b", "test_c"]


def test_tests_of_other_languages_are_read_too() -> None:
    script = b"""
describe("sums", () => {
  it("adds", () => { expect(add(1, 2)).toBe(3); });
  it("does nothing", () => { add(1, 2); });
  test.skip("later", () => { expect(1).toBe(add(1)); });
  it("says true", () => { expect(true).toBe(true); });
});
"""
    found = find_cases("a.test.ts", script)
    assert {name: (case.asserts, case.skipped) for name, case in found.items()} == {
        "adds": (True, False),
        "does nothing": (False, False),
        "later": (True, True),
        "says true": (False, False),
    }
    go = (
        b'func TestA(t *testing.T) { if f() != 1 { t.Error("x") } }\nfunc TestB(t *testing.T) { f() }\nfunc help() {}\n'
    )
    assert {name: case.asserts for name, case in find_cases("a_test.go", b"package a\n" + go).items()} == {
        "TestA": True,
        "TestB": False,
    }
    rust = b"#[test]\nfn adds() { assert_eq!(add(1, 2), 3); }\n#[test]\n#[ignore]\nfn later() { assert!(f()); }\n"
    rust += b"#[test]\nfn empty() { add(1, 2); }\nfn helper() { assert!(f()); }\n"
    assert {name: (case.asserts, case.skipped) for name, case in find_cases("tests/a.rs", rust).items()} == {
        "adds": (True, False),
        "later": (True, True),
        "empty": (False, False),
    }


def test_what_cannot_be_read_holds_no_tests() -> None:
    assert find_cases("test_a.py", b"def test_(:\n") == {}
    assert find_cases("test_a.py", None) == {}
    assert find_cases("notes.txt", b"def test_a(): pass") == {}
