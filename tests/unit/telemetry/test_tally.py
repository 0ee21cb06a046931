"""Totals: the same events give the same totals, however they are cut, kept and read again."""

import json
import re
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from sidecar.telemetry.metrics import Moment, render
from sidecar.telemetry.tally import MAX_NAMES, OTHER, Spending, Tally

Json = dict[str, Any]


def event(type_: str, seq: int, task: str = "t_1", second: int = 0, **fields: Any) -> Json:
    at = f"2026-11-18T10:00:{second:02d}.000Z"
    return {"type": type_, "seq": seq, "taskId": task, "at": at, **fields}


def usage(seq: int, total: int, spent: int | None = None, **more: Any) -> Json:
    def counts(number: int) -> Json:
        return {"inputTokens": number, "outputTokens": 0, "cachedTokens": 0, "costUsd": 0.0}

    extra = {"spent": counts(spent)} if spent is not None else {}
    return event("usage", seq, **counts(total), **extra, **more)


def tool(seq: int, name: str, status: str = "success", ms: float = 7.0) -> Json:
    return event("tool", seq, tool=name, status=status, durationMs=ms)


def folded(events: list[Json]) -> Tally:
    tally = Tally()
    for each in events:
        tally.fold(each)
    return tally


def samples(tally: Tally, **moment: Any) -> dict[str, float]:
    now = {
        "version": "1",
        "uptime": 1.0,
        "tasks": {},
        "streams": 0,
        "journal_bytes": 0,
        "journal_stalled": False,
        "queue": {"local": 0},
        "workers": {},
    }
    text = render(tally, Moment(**{**now, **moment}), ["read_file"]).decode()
    found = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}"] = sample.value
    return found


LIFE = [
    event("status", 1, status="queued"),
    event("status", 2, second=1, status="running"),
    event("step", 3, second=1, step=1, agent="coder", state="started"),
    event("model", 4, second=1, role="smart", provider="x", model="y"),
    usage(5, 100, 100, model="x/y", agent="coder"),
    tool(6, "read_file"),
    tool(7, "read_file", "pending"),
    event("approval", 8, approvalId="a", state="requested"),
    event("status", 9, second=3, status="waiting"),
    event("approval", 10, approvalId="a", state="allowed"),
    event("status", 11, second=20, status="running"),
    usage(12, 150, 50, model="x/z", agent="reviewer"),
    event("verification", 13, passed=True, checks=[]),
    event("status", 14, second=24, status="completed"),
]


def test_a_tasks_life_is_counted() -> None:
    found = samples(folded(LIFE))
    assert found["brain_tasks_ended_total{status=completed}"] == 1
    # Two seconds and four, without the wait.
    assert found["brain_task_duration_seconds_sum{status=completed}"] == 6
    assert found["brain_task_duration_seconds_bucket{le=5,status=completed}"] == 0
    assert found["brain_task_duration_seconds_bucket{le=15,status=completed}"] == 1
    assert found["brain_tool_calls_total{status=success,tool=read_file}"] == 1
    assert found["brain_tokens_total{direction=input,model=x/y}"] == 100
    assert found["brain_tokens_total{direction=input,model=x/z}"] == 50
    assert found["brain_approvals_total{answer=allowed}"] == 1
    assert found["brain_approvals_waiting{}"] == 0
    assert found["brain_verifications_total{result=passed}"] == 1


def test_an_approval_waits_until_it_is_answered_or_its_task_ends() -> None:
    assert folded(LIFE[:9]).waiting() == (1, 0)
    assert folded([*LIFE[:9], event("status", 10, status="cancelled")]).waiting() == (0, 0)
    asked = [event("question", 1, questionId="q", state="asked")]
    assert folded(asked).waiting() == (0, 1)
    assert folded([*asked, event("question", 2, questionId="q", state="answered")]).waiting() == (0, 0)


def test_zeros_are_present_before_anything_happened() -> None:
    found = samples(Tally())
    for name in (
        "brain_tasks_ended_total{status=failed}",
        "brain_tool_calls_total{status=error,tool=read_file}",
        "brain_tokens_total{direction=output,model=}",
        "brain_estimated_cost_usd_total{model=}",
        "brain_task_duration_seconds_count{status=escalated}",
        "brain_tool_duration_seconds_count{}",
        "brain_queue_depth{pool=local}",
        "brain_approvals_waiting{}",
    ):
        assert found[name] == 0, name


def test_usage_of_older_versions_is_counted_by_its_differences_and_not_twice() -> None:
    first = [event("status", 1, status="queued"), usage(2, 100), usage(3, 130), event("status", 4, status="completed")]
    assert folded(first).spent[OTHER].input == 130
    # You continue it: what it used before isn't counted again.
    again = [event("status", 5, status="queued"), usage(6, 130), usage(7, 160)]
    assert folded([*first, *again]).spent[OTHER].input == 160


def test_a_rewind_of_a_task_that_had_ended_is_no_second_end() -> None:
    rewound = event("status", 15, status="cancelled", rewoundTo=3)
    assert folded([*LIFE, rewound]).ended == {"completed": 1}
    assert folded([*LIFE[:9], rewound]).ended == {"cancelled": 1}


def test_names_from_outside_do_not_grow_without_end() -> None:
    tally = folded([tool(number, f"server__tool{number}") for number in range(MAX_NAMES + 50)])
    assert len(tally.tools) == MAX_NAMES + 1
    assert tally.tools[OTHER]["success"] == 50


def test_a_label_can_hold_anything() -> None:
    odd = 'a"b\\c\nd{}'
    assert samples(folded([tool(1, odd)]))[f"brain_tool_calls_total{{status=success,tool={odd}}}"] == 1


@given(st.integers(0, len(LIFE)))
def test_totals_that_were_kept_and_read_again_go_on_the_same(cut: int) -> None:
    tally = Tally.model_validate_json(folded(LIFE[:cut]).model_dump_json())
    for each in LIFE[cut:]:
        tally.fold(each)
    assert json.loads(tally.model_dump_json()) == json.loads(folded(LIFE).model_dump_json())


def test_spending_is_kept_by_day_model_and_agent() -> None:
    days = folded(LIFE).days
    assert set(days["2026-11-18"]) == {"x/y coder", "x/z reviewer"}
    assert days["2026-11-18"]["x/y coder"] == Spending(requests=1, input=100)


def test_the_dashboard_asks_for_metrics_that_exist() -> None:
    text = (Path(__file__).parents[3] / "packaging" / "grafana.json").read_text()
    asked = {name for panel in json.loads(text)["panels"] for each in panel["targets"] for name in names(each["expr"])}
    moment = {"tasks": {"running": 0}, "deliveries": {("github", "done"): 0}, "outgoing": {"sent": 0}}
    given = {name.partition("{")[0] for name in samples(folded(LIFE), workers={("local", "idle"): 1}, **moment)}
    assert asked and asked <= given


def names(expression: str) -> list[str]:
    return re.findall(r"brain_\w+", expression)
