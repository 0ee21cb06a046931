"""What the skills that explain, review, run, commit and document answer."""

import json

import pytest
from pydantic import JsonValue

from sidecar.models.port import Brief, ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.skill import Act, Decline, Move, Say
from sidecar.wire.base import JsonObject
from sidecar.work.roster import ROSTER
from tests.unit.offline.questions import failed, move, next_move, result, said, status

DIFF = """\
diff --git a/src/cart.py b/src/cart.py
index 1111111..2222222 100644
--- a/src/cart.py
+++ b/src/cart.py
@@ -1,4 +1,6 @@ class Cart:
 def total(cart):
-    return 1
+    return sum(cart)
+
+def empty(cart):
+    return not cart
"""


def test_after_a_cancel_tests_are_run_again_and_a_command_is_not() -> None:
    tests, command = (
        ToolReturn(id="0-0", tool=tool, status="cancelled", content="Cancelled.")
        for tool in ("run_tests", "run_command")
    )
    assert move("run the tests", tests) == Act([("run_tests", {})])
    assert "was stopped before it ended" in said("run `make`", command)


def test_a_symbol_that_is_not_there_is_declined_with_what_is_near() -> None:
    missing = failed("describe_symbol", "No symbol foo is defined in this project. Did you mean fool (a.py:1)?")
    answer = move("explain foo", missing)
    assert isinstance(answer, Decline) and "Did you mean fool" in answer.text


def test_where_something_is_is_reported_shortly() -> None:
    found = result(
        "describe_symbol", "All of it.", name="f", path="a.py", line=1, language="Python", signature="def f()"
    )
    assert said("where is f", found) == "**`f`** is at `a.py:1`.\n\n```python\ndef f()\n```"
    assert said("explain f", found) == "All of it."


def test_a_file_that_is_elsewhere_is_found_by_its_name() -> None:
    gone = failed("describe_file", "app.py does not exist.", "not_found")
    assert move("explain app.py", gone) == Act([("find_files", {"pattern": "**/app.py"})])
    one = result("find_files", paths=["src/app.py"])
    assert move("explain app.py", gone, one) == Act([("describe_file", {"path": "src/app.py"})])
    answer = move("explain app.py", gone, result("find_files", paths=["a/app.py", "b/app.py"]))
    assert isinstance(answer, Decline) and "`a/app.py`, `b/app.py`" in answer.text


@pytest.mark.parametrize(
    "text", ["explain `my file.py`", "explain “my file.py”", "what does my file.py do?", "explain the file my file.py"]
)
def test_a_file_may_have_spaces_in_its_name(text: str) -> None:
    assert move(text) == Act([("describe_file", {"path": "my file.py"})])
    gone = failed("describe_file", "my file.py does not exist.", "not_found")
    assert move(text, gone) == Act([("find_files", {"pattern": "**/*file.py"})])
    both = result("find_files", paths=["a/file.py", "b/my file.py"])
    assert move(text, gone, both) == Act([("describe_file", {"path": "b/my file.py"})])
    other = result("find_files", paths=["a/file.py"])
    assert move(text, gone, other) == Act([("describe_file", {"path": "a/file.py"})])
    none = result("find_files", paths=[])
    assert isinstance(move(text, gone, none), Decline)


def test_words_around_a_file_are_not_its_name() -> None:
    assert move("explain load in app.py") == Act([("describe_symbol", {"symbol": "load", "path": "app.py"})])
    assert move("explain the difference of a.py and b.py") is None
    assert move("who imports `my file.py`?") == Act([("find_usages", {"symbol": "my file.py"})])


def test_with_nothing_selected_and_nothing_open_it_asks_for_a_name() -> None:
    for text in ("explain this", "explain this file", "who calls this", "who wrote this line"):
        assert isinstance(move(text, brief=Brief()), Decline), text


def test_one_part_of_the_project_is_answered_with_that_part() -> None:
    assert move("how do I run the tests?") == Act([("describe_project", {"sections": ["tests"]})])
    assert move("show me the dependency graph") == Act([("describe_project", {"sections": ["imports"]})])
    assert said("show me the dependency graph", result("describe_project", "A graph.")) == "A graph."


def test_without_git_everything_is_reviewed() -> None:
    missing = failed("review_changes", "The workspace is not a Git repository.", "no_git")
    assert move("review my changes", missing) == Act([("review_changes", {"paths": ["."]})])


def finding(line: int, severity: str, rule: str, message: str) -> JsonObject:
    return {"path": "src/a.py", "line": line, "severity": severity, "rule": rule, "message": message, "fix": "x"}


def test_a_review_for_something_in_particular_tells_only_that() -> None:
    token, todo = finding(1, "error", "secret", "A GitHub token."), finding(2, "hint", "todo", "Open task.")
    review = result("review_changes", findings=[token, todo])
    assert said("check src/ for secrets", review) == "1 finding:\n\n- **error** `src/a.py:1` A GitHub token. Fix: x"
    assert said("check src/ for conflict markers", review) == "The review found none."


def review_of(*returns: ToolReturn, lines: tuple[str, ...] = ("src/a.py:3-4",)) -> Move | None:
    brief = Brief(asked="rename a to b", follows=True, changed=("src/a.py",), changed_lines=lines)
    question = ParsedRequest(
        "reviewer", "rename a to b", brief, frozenset(ROSTER["reviewer"].tools), returns, len(returns)
    )
    return next_move(question)


def test_the_reviewer_of_a_task_looks_at_the_lines_that_it_changed() -> None:
    assert review_of() == Act([("review_changes", {"paths": ["src/a.py:3-4"]})])


def test_its_verdict_fails_for_errors_only() -> None:
    hint, error = finding(3, "hint", "todo", "Open task."), finding(4, "error", "syntax", "A syntax error.")
    for found, passed, summary in (
        ([hint], True, "worth a look"),
        ([error, hint], False, "1 error to fix"),
        ([], True, "no problems"),
    ):
        answer = review_of(result("review_changes", findings=[*found]))
        assert isinstance(answer, Say)
        verdict = json.loads(answer.text)
        assert verdict["passed"] is passed
        assert len(verdict["issues"]) == len(found)
        assert verdict["summary"] == f"Reviewed 1 changed file by rules: {summary}."


def test_where_nothing_changed_there_is_no_verdict() -> None:
    answer = review_of(lines=())
    assert isinstance(answer, Decline) and answer.code == "not_understood"


def test_a_command_of_the_project_is_found_and_then_run() -> None:
    found = result("find_commands", commands={"lint": "make lint", "build": "npm run build"})
    assert move("run the linter", found) == Act([("run_command", {"command": "make lint", "timeoutMs": 600_000})])
    bad = failed("run_command", "exit code 2", "command_failed", output="src/a.py:1 bad")
    assert said("run the linter", found, bad) == "`make lint` failed (exit code 2):\n\n```\nsrc/a.py:1 bad\n```"
    answer = move("install the dependencies", found)
    assert isinstance(answer, Decline) and "has no install command" in answer.text


def test_an_app_is_not_started_but_said_how() -> None:
    assert "Start it with `make run`" in said("start the app", result("find_commands", commands={"start": "make run"}))


def test_tests_that_failed_are_reported_with_place_and_assertion() -> None:
    output = (
        "_______ test_b _______\ntests/test_a.py:9: in test_b\n    assert f() == 2\n"
        "E   assert 3 == 2\nE    +  where 3 = f()\n"
        "=== short test summary info ===\nFAILED tests/test_a.py::test_b - assert 3 == 2\n"
    )
    failures: list[JsonValue] = [{"name": "tests/test_a.py::test_b", "message": "assert 3 == 2"}]
    counts: JsonObject = {"framework": "pytest", "passed": 1, "failed": 1, "skipped": 0}
    back = failed("run_tests", "1 failed", "tests_failed", output=output, failures=failures, **counts)
    answer = said("run the tests", back)
    assert answer.startswith("**1 failed**, 1 passed (pytest):")
    assert "- `tests/test_a.py::test_b` — `tests/test_a.py:9`\n  `assert 3 == 2 +  where 3 = f()`" in answer


def test_a_long_output_is_cut_to_what_matters() -> None:
    noise = "\n".join(f"line {number}" for number in range(500))
    output = f"{noise[:2000]}\nsrc/a.c:3: error: oops\n{noise}"
    answer = said("run `make`", failed("run_command", "exit code 1", "command_failed", output=output))
    assert "src/a.c:3: error: oops" in answer and "lines left out" in answer
    assert len(answer.splitlines()) < 60
    logged = said(
        "run `make`", failed("run_command", "exit code 1", "command_failed", output=noise, log="output:a.log")
    )
    assert "… more than 488 lines left out …" in logged


STATUS = status(" M src/cart.py", "?? src/__pycache__/", "?? notes.md", ahead=2)
SHOWN = result("git_diff", DIFF)
NO_DIFF = result("git_diff", "No difference.")


def test_the_state_is_reported_in_words() -> None:
    told = said("git status", STATUS, SHOWN)
    assert "on branch `main`, 2 commits ahead of `origin/main`: +4 −1 lines" in told
    assert "- `src/cart.py` +4 −1: `empty`, `total`" in told and "- `notes.md`" in told
    assert said("git status", status(), NO_DIFF) == "No changes: everything is committed, on branch `main`."
    assert "1 commit ahead of" in said("git status", status("?? a.py", ahead=1), NO_DIFF)


def test_a_commit_message_says_what_changed_and_claims_no_more() -> None:
    cart = status(" M src/cart.py")
    assert "feat(cart): add empty, change total" in said("suggest a commit message", cart, SHOWN)
    changed = DIFF.replace("+def empty(cart):\n+    return not cart\n", "")
    assert "change(cart): change total" in said("write a commit message", cart, result("git_diff", changed))
    docs = status(" M README.md")
    assert "docs: update README.md" in said("commit message", docs, NO_DIFF)
    assert isinstance(move("suggest a commit message", status(), NO_DIFF), Decline)


def test_a_commit_is_looked_at_staged_and_made() -> None:
    looked = (STATUS, SHOWN, result("review_changes", findings=[]))
    assert move("commit my changes") == Act([("git_status", {}), ("git_diff", {"ref": "HEAD"}), ("review_changes", {})])
    staged = move("commit my changes", *looked)
    assert staged == Act([("git_add", {"paths": ["src/cart.py", "notes.md"]})]), "what programs leave is left out"
    added = (*looked, result("git_add"))
    made = move("commit with the message “fix: sum it up”", *added)
    assert made == Act([("git_commit", {"message": "fix: sum it up"})])
    assert "Committed 2 files" in said("commit my changes", *added, result("git_commit", "[main abc] x"))


def test_a_secret_is_not_committed() -> None:
    found = result("review_changes", findings=[finding(1, "error", "secret", "This looks like a GitHub token.")])
    answer = move("commit everything", STATUS, SHOWN, found)
    assert isinstance(answer, Decline) and "Nothing was committed" in answer.text


def test_a_line_is_reported_with_its_author_and_commit() -> None:
    line: JsonObject = {"hash": "91c24229", "author": "Ann B.", "date": "2024-05-06", "line": 12, "text": "def f():"}
    blamed = result("git_blame", lines=[line])
    assert (
        said("who wrote line 12 of a.py", blamed)
        == "Ann B. wrote line 12 on 2024-05-06 (commit `91c24229`): `def f():`"
    )


def test_commits_are_reported_newest_first() -> None:
    first: JsonObject = {"hash": "abc1234", "date": "2024-05-06T10:00:00+00:00", "author": "Ann", "subject": "Add a"}
    second: JsonObject = {"hash": "def5678", "date": "2024-05-05T10:00:00+00:00", "author": "Bob", "subject": "Fix b"}
    log = result("git_log", commits=[first, second])
    told = said("what changed since v1.0", log)
    assert told.startswith("2 commits since v1.0 by 2 people") and "- `abc1234` 2024-05-06 Add a" in told


@pytest.mark.parametrize(
    "text", ["help", "hello", "what can you do?", "What can I ask you", "show me your skills", "who are you?"]
)
def test_help_names_what_it_can_do_in_this_project(text: str) -> None:
    looks = move(text)
    assert isinstance(looks, Act) and [tool for tool, _ in looks.calls] == [
        "describe_project",
        "find_commands",
        "git_status",
    ]
    project = result("describe_project", biggest=["shop/cart.py"], tests="python3 -m pytest")
    found = (project, result("find_commands", commands={"lint": "ruff check ."}), failed("git_status", "no Git"))
    outline = result("analyze_code", symbols=[{"name": "Cart", "kind": "class", "parent": ""}])
    told = said(text, *found, outline)
    for part in ("“run the tests”", "“what breaks if I change `Cart`?”", "“explain shop/cart.py”", "“run the linter”"):
        assert part in told
    for part in ("format the code", "build it", "commit", "src/app.py", "parse_line"):
        assert part not in told
    assert "how do I use a real model?" in told


@pytest.mark.parametrize(
    "text",
    [
        "how do I use a real model?",
        "how can I configure claude",
        "where do I put my api key",
        "which models can I use?",
    ],
)
def test_help_says_how_a_model_is_configured(text: str) -> None:
    told = said(text)
    assert "brain keys set anthropic" in told and "brain use" in told and "Ollama" in told


def test_every_example_that_is_named_is_understood() -> None:
    from sidecar.offline.skills.help import GROUPS, Names

    everything = frozenset({"format", "tests", "lint", "build", "install", "git"})
    for _, examples in GROUPS:
        for text in map(Names("src/shop.py", "find_order", everything).fill, examples):
            if not text.startswith("create a "):
                assert text and move(text) is not None, text


def test_calls_of_what_the_project_does_not_define_are_listed() -> None:
    missing = failed("find_usages", "No symbol parse_version is defined in this project.", "no_symbol")
    search = move("who calls parse_version?", missing)
    assert isinstance(search, Act) and search.calls[0][0] == "search_code"
    hits: list[JsonValue] = [
        {"path": "tests/test_a.py", "line": 2, "text": "parse_version('1')"},
        {"path": "setup.py", "line": 7, "text": "    if parse_version(x) < y:"},
        {"path": "README.md", "line": 1, "text": "parse_version"},
    ]
    told = said("who calls parse_version?", missing, result("search_code", matches=hits))
    assert told.startswith("`parse_version` is not defined in this project under that name; these lines name it:")
    assert told.splitlines()[2:] == [
        "- `setup.py:7` `if parse_version(x) < y:`",
        "- `tests/test_a.py:2` `parse_version('1')`",
    ]


def test_why_a_test_fails_is_unknown_until_it_runs() -> None:
    found = result("find_symbols", symbols=[{"name": "test_x", "path": "tests/test_a.py", "line": 3, "parent": ""}])
    told = said("why does test_x fail?", found)
    assert told.startswith("Unknown: why `test_x` (`tests/test_a.py:3`) fails") and "“run test_x”" in told
    nothing = move("why does test_x fail?", result("find_symbols", symbols=[]))
    assert isinstance(nothing, Decline) and "No test is named `test_x` in this project." in nothing.text
    run = move("run test_x", found)
    assert isinstance(run, Act) and run.calls[0] == ("run_tests", {"target": "tests/test_a.py::test_x"})


def test_places_are_reported_definitions_first_or_honestly_not_at_all() -> None:
    hits: list[JsonValue] = [
        {"path": "docs/guide.md", "line": 1, "text": "sessions are saved"},
        {"path": "tests/test_s.py", "line": 4, "text": "def test_save_session():"},
        {"path": "app.py", "line": 9, "text": "store.save(session)"},
        {"path": "sessions.py", "line": 30, "text": "    def save_session(self):"},
    ]
    told = said("find where sessions are saved", result("search_code", matches=hits))
    assert [line.split("`")[1] for line in told.splitlines()[2:]] == ["sessions.py:30", "app.py:9", "tests/test_s.py:4"]
    none = result("search_code", matches=[])
    again = move("find where sessions are saved", none)
    assert isinstance(again, Act) and "persist" in str(again.calls[0][1]["query"])
    index = move("find where sessions are saved", none, none)
    assert isinstance(index, Act) and index.calls[0][0] == "find_code"
    told = said("find where sessions are saved", none, none, result("find_code", hits=[]))
    assert told.startswith("Unknown: no line of this project names")


def test_a_place_that_only_documents_name_is_looked_up_in_the_index() -> None:
    told = result(
        "search_code", matches=[{"path": "CHANGES.md", "line": 3, "text": "Faster rendering of progress bars"}]
    )
    near = result("find_code", hits=[{"path": "bar.py", "line": 9, "kind": "method", "symbol": "Bar.render"}])
    answer = said("where is the progress bar rendered", told, told, near)
    assert "`CHANGES.md:3`" in answer and answer.endswith("- `bar.py:9` method Bar.render")


def test_the_files_that_import_a_package_are_those_with_an_import() -> None:
    missing = failed("find_usages", "No symbol anyio is defined in this project.", "no_symbol")
    lines: JsonValue = [
        {"path": "a.py", "line": 1, "text": "import anyio.abc"},
        {"path": "a.py", "line": 9, "text": "await anyio.sleep(1)"},
        {"path": "b.go", "line": 3, "text": '\t"example.org/anyio"'},
    ]
    found = result("search_code", matches=lines)
    assert "these lines import it" in (answer := said("which files import anyio?", missing, found))
    assert "a.py:1" in answer and "b.go:3" in answer and "a.py:9" not in answer
    assert "so it comes from outside the project" in answer
    assert "a.py:9" in said("who uses anyio?", missing, found)


def test_a_relative_import_is_no_proof_of_a_package() -> None:
    missing = failed("find_usages", "No symbol _compat is defined in this project.", "no_symbol")
    found = result("search_code", matches=[{"path": "a.py", "line": 1, "text": "from ._compat import WIN"}])
    assert "from a package" not in said("who imports _compat?", missing, found)


def test_a_qualified_name_is_searched_with_its_qualifier() -> None:
    search = move("who calls requests.get?", failed("find_usages", "No symbol get is defined.", "no_symbol"))
    assert isinstance(search, Act) and search.calls[0][1]["query"] == r"\brequests\b.*\bget\b"


def test_subclasses_are_the_classes_that_name_it_as_their_base() -> None:
    assert move("which classes extend Builder?") == Act([("find_usages", {"symbol": "Builder"})])
    used: JsonValue = [
        {"path": "html.py", "line": 9, "within": "Html", "kind": "base"},
        {"path": "app.py", "line": 3, "within": "main", "kind": "call"},
    ]
    told = said("list the subclasses of Builder", result("find_usages", usages=used))
    assert told == "`Builder` is the direct base of 1 class:\n\n- `Html` — `html.py:9`"
    assert said("what subclasses Builder?", result("find_usages", usages=[])).startswith("No class of this project")


def test_a_name_that_is_not_there_is_an_answer_to_whether_it_is() -> None:
    missing = failed("describe_symbol", "No symbol flatten is defined in this project.", "no_symbol")
    assert isinstance(move("is there a function called flatten?", missing), Say)
    assert isinstance(move("explain flatten", missing, result("find_files", paths=[])), Decline)
    assert move("is there a bug?") is None


def test_tests_of_one_name_are_suggested_once() -> None:
    symbols: JsonValue = [{"path": f"tests/test_{n}.py", "line": 1, "name": "test_basic_use"} for n in range(3)]
    assert said("why does test_basic fail?", result("find_symbols", symbols=symbols)).count("test_basic_use") == 1


@pytest.mark.parametrize(
    ("text", "marks"),
    [("find all FIXMEs", "FIXME"), ("list the hacks", "HACK"), ("find all fixmes and hacks", "FIXME or HACK")],
)
def test_only_the_notes_that_were_asked_for_are_searched(text: str, marks: str) -> None:
    assert said(text, result("search_code", matches=[])) == f"No line holds {marks}."
    found: JsonValue = [{"path": "a.py", "line": 1, "text": f"# {marks[:4]}"}]
    assert f"1 line in 1 file holds {marks}:" in said(text, result("search_code", matches=found))


def test_notes_are_searched_in_a_folder_without_a_slash() -> None:
    search = move("find all TODOs in src")
    assert isinstance(search, Act) and search.calls[0][1]["path"] == "src"


def test_a_module_of_a_package_is_looked_for_by_its_path() -> None:
    missing = failed("find_usages", "'example.org/flags' is not the name of a symbol.", "no_symbol")
    search = move("who imports example.org/flags", missing)
    assert isinstance(search, Act) and search.calls[0] == (
        "search_code", {"query": "example.org/flags", "maxResults": 500}
    )  # fmt: skip
    lines: list[JsonValue] = [
        {"path": "a_test.go", "line": 1, "text": '  flag "example.org/flags"'},
        {"path": "b.go", "line": 3, "text": "// see example.org/flags"},
        {"path": "c.go", "line": 5, "text": '  "example.org/flags"'},
    ]
    told = said("who imports example.org/flags", missing, result("search_code", matches=lines))
    assert told.splitlines()[2:] == ['- `c.go:5` `"example.org/flags"`', '- `a_test.go:1` `flag "example.org/flags"`']
    assert "no line imports it" in said("who imports example.org/flags", missing, result("search_code", matches=[]))


def test_who_implements_a_trait_is_told_from_the_lines_that_do() -> None:
    missing = failed("find_usages", "No symbol FromStr is defined in this project.", "no_symbol")
    assert isinstance(move("which types implement FromStr?", missing), Act)
    line: JsonValue = [{"path": "src/parse.rs", "line": 2, "text": "impl FromStr for Version {"}]
    told = said("which types implement FromStr?", missing, result("search_code", matches=line))
    assert told.splitlines()[2:] == ["- `src/parse.rs:2` `impl FromStr for Version {`"]


def test_a_name_of_a_module_is_explained_as_its_file() -> None:
    missing = failed("describe_symbol", "No symbol auth_handler is defined in this project.", "no_symbol")
    found = result("find_files", paths=["ssh/auth_handler.py", "docs/auth_handler.rst"])
    assert move("what does auth_handler do?", missing, found) == Act(
        [("describe_file", {"path": "ssh/auth_handler.py"})]
    )
    file = result("describe_file", path="ssh/auth_handler.py")
    assert "the file `ssh/auth_handler.py`" in said("where is auth_handler?", missing, found, file)


def test_lines_that_programs_wrote_come_last() -> None:
    lines: list[JsonValue] = [
        {"path": "docs/index.js", "line": 1, "text": "sha256 " * 60},
        {"path": "src/a.py", "line": 9, "text": "hash = sha256"},
    ]
    missing = failed("find_usages", "No symbol sha256 is defined in this project.", "no_symbol")
    told = said("where is sha256 used?", missing, result("search_code", matches=lines))
    assert told.splitlines()[2].startswith("- `src/a.py:9`")


def test_a_comparison_of_functions_is_declined_and_no_place_is_made_up() -> None:
    assert isinstance(move("which functions are longest?"), Decline)


def test_the_definition_of_the_words_comes_before_lines_that_only_use_them() -> None:
    lines: list[JsonValue] = [
        {"path": "lib/a.js", "line": 9, "text": "    const userArgs = this.prepare(argv, parseOptions);"},
        {"path": "lib/a.js", "line": 40, "text": "  parseOptions(argv) {"},
    ]
    told = said("where are options parsed?", result("search_code", matches=lines))
    assert told.splitlines()[0].endswith("definitions come first:") and "lib/a.js:40" in told.splitlines()[2]


def test_tests_that_name_the_words_do_not_hide_code_that_says_it_otherwise() -> None:
    test: JsonValue = [{"path": "tests/test_a.py", "line": 1, "text": "# the theme is configured"}]
    code: JsonValue = [{"path": "a.py", "line": 2, "text": "theme = settings['THEME']"}]
    first = result("search_code", matches=test)
    assert isinstance(move("where is the theme configured?", first), Act)
    assert "`a.py:2`" in said("where is the theme configured?", first, result("search_code", matches=code))


def test_several_files_of_a_name_are_asked_about() -> None:
    missing = failed("describe_symbol", "No symbol signals is defined in this project.", "no_symbol")
    told = said("what does signals do?", missing, result("find_files", paths=["a/signals.py", "b/signals.py"]))
    assert "`a/signals.py`, `b/signals.py`" in told
