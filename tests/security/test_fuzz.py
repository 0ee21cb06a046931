"""Thousands of made-up commands, paths, frames, bodies and texts: no crash, no escape, nothing is let by."""

import json
import os
import string
import subprocess
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from bridge.session.protocol import BadFrame, parse_shell_frame, parse_sidecar_frame
from sidecar.telemetry.redaction import Redactor
from sidecar.wire.base import Wire
from sidecar.wire.system import PolicyRequest, TrustRequest
from sidecar.wire.tasks import ApprovalsRequest, ExecuteRequest
from sidecar.wire.tools import BatchRequest
from tests.faults.scale import scaled
from tests.security.corpus import BYPASSES, HARMLESS
from tools.errors import ToolError
from tools.executor.registry import default_registry
from tools.local.root import WorkspaceRoot, path_of
from tools.policy import shell
from tools.policy.policy import Policy
from tools.protected import protected_part, secret_part
from tools.text import escape_hidden

RUN = default_registry().get("run_command").spec
POLICY = Policy(trusted=lambda workspace: True)
EXAMPLES = settings(
    max_examples=scaled(150, 10_000), deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
WORDS = sorted({word for line in (*BYPASSES, *HARMLESS) for word in line.split()})
PIECES = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(
        [";", "&&", "|", "$(", ")", "`", ">", "<", "\n", "'", '"', "\\", "$x", "*", "~", "#", "{a,b}", "-", "--"]
    ),
    st.text(max_size=6),
)
LINES = st.lists(PIECES, min_size=1, max_size=8).flatmap(
    lambda parts: st.sampled_from([" ", "", "\t"]).map(lambda glue: glue.join(parts))
)


@EXAMPLES
@given(LINES)
@example("ls\u2028evil")
def test_every_line_gets_a_decision_and_only_simple_ones_a_yes(line: str) -> None:
    if not line:
        return
    decision = POLICY.decide(RUN, RUN.arguments.model_validate({"command": line}), "/w", "ask")
    assert decision.verdict in ("allow", "ask", "deny")
    assert decision.why
    if decision.verdict == "allow":
        words = shell.simple(line)
        assert isinstance(words, list)
        assert not set(_outside_quotes(line)) & set(";|&<>$`*?[]{}()!#\n\\")


def _outside_quotes(line: str) -> str:
    kept, quote = [], ""
    for char in line.strip():
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        else:
            kept.append(char)
    return "".join(kept)


@settings(EXAMPLES, max_examples=scaled(40, 2_000))
@given(
    st.lists(st.sampled_from(["ls", "-l", "'a b'", '"c d"', "x=y", "a'b'c", "--x='y z'", "HEAD~1", "@{u}"]), min_size=1)
)
def test_the_words_are_those_that_the_shell_sees(parts: list[str]) -> None:
    line = " ".join(["printf", "'%s\\n'", *parts]).replace("'%s\\n'", "'%s/'")
    words = shell.simple(line)
    if isinstance(words, list):
        seen = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False).stdout
        assert seen == "".join(f"{word}/" for word in words[2:])


@EXAMPLES
@given(
    st.lists(
        st.sampled_from(["a", "..", ".", "", "link", "loop", "/", "etc", "passwd", "\0", "é", "a" * 300]), max_size=9
    )
)
def test_no_path_leads_out(root: WorkspaceRoot, parts: list[str]) -> None:
    try:
        handle = root.open("/".join(parts))
    except ToolError:
        return
    try:
        assert f"{path_of(handle)}/".startswith(f"{root.path}/")
    finally:
        os.close(handle)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkspaceRoot]:
    root = tmp_path_factory.mktemp("door")
    (root / "a").mkdir()
    (root / "link").symlink_to("/etc")
    (root / "loop").symlink_to("loop")
    (root / "a" / "link").symlink_to("../..")
    opened = WorkspaceRoot(str(root))
    yield opened
    opened.close()


FRAME_PARTS = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["type", "id", "result", "error", "tool", "event", "x"]), inner, max_size=6),
    ),
    max_leaves=12,
)
TYPES = ["hello", "tool_result", "stream", "error", "notify", "cancel", "welcome", "tool_call", "?"]


@EXAMPLES
@given(FRAME_PARTS, st.sampled_from(TYPES), st.booleans())
def test_every_frame_is_taken_or_answered(content: object, kind: str, cut: bool) -> None:
    frame = {**content, "type": kind} if isinstance(content, dict) else content
    text = json.dumps(frame)
    for read in (parse_shell_frame, parse_sidecar_frame):
        taken = read(text[: len(text) // 2] if cut else text)
        assert isinstance(taken, BadFrame | Wire)


@EXAMPLES
@given(FRAME_PARTS)
def test_every_body_is_taken_or_refused_by_its_type(content: object) -> None:
    text = json.dumps(content)
    for kind in (ExecuteRequest, BatchRequest, TrustRequest, PolicyRequest, ApprovalsRequest):
        with suppress(ValidationError):
            kind.model_validate_json(text)


@EXAMPLES
@given(st.text(max_size=60))
def test_any_text_can_be_asked_about_shown_and_redacted(text: str) -> None:
    protected_part(text)
    secret_part(text)
    shown = escape_hidden(text)
    assert not set(shown) & {"\u202e", "\x1b", "\u200b", "\x00"}
    redact = Redactor(lambda: {"K": "0123456789"})
    assert "0123456789" not in redact(f"{text}0123456789{text}")
    assert 0 <= redact.open_end(text) <= len(text)


@EXAMPLES
@given(st.text(string.ascii_letters + string.digits + "-_", min_size=20, max_size=40), st.integers(0, 60))
def test_a_key_cut_anywhere_is_never_shown_in_part(rest: str, cut: int) -> None:
    key = f"sk-ant-{rest}"
    redact = Redactor()
    first, second = f"a {key[:cut]}", key[cut:]
    end = redact.open_end(first)
    shown = redact(first[:end]) + redact(first[end:] + second + " ")
    assert rest not in shown
