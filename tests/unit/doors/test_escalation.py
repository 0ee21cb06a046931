"""When a step of the chain is due, who hears what, and what a mail looks like; time is passed in."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from sidecar.doors.alerts import Alert, Alerts, QuietHours, due_at, next_step, parse_quiet
from sidecar.doors.mail import compose, parse_server
from sidecar.doors.outbox import OutboxMessage
from sidecar.doors.settings import DoorsError, EscalationRules, EscalationStep
from sidecar.doors.store import DoorsStore

NOON = datetime(2026, 11, 18, 12, 0).astimezone()
NIGHT = parse_quiet("22:00-07:00")
CHAIN = [EscalationStep(channel="desktop"), EscalationStep(channel="mail", after=60)]
ALERT = Alert("alert.t_1.5", "t_1", "failed", "it broke", "", 1_000.0)


@pytest.mark.parametrize(
    ("hours", "clock", "ends"),
    [
        ("22:00-07:00", "21:59", None),
        ("22:00-07:00", "22:00", "07:00+1"),
        ("22:00-07:00", "03:30", "07:00"),
        ("22:00-07:00", "07:00", None),
        ("12:00-13:30", "12:30", "13:30"),
        ("12:00-13:30", "13:30", None),
        ("09:00-09:00", "09:00", None),
    ],
)
def test_quiet_hours_end_when_they_say_also_over_midnight(hours: str, clock: str, ends: str | None) -> None:
    quiet = parse_quiet(hours)
    assert quiet is not None
    found = quiet.ends_at(
        datetime.fromisoformat(f"2026-11-18T{clock}:30" if clock[-2:] == "59" else f"2026-11-18T{clock}")
    )
    if ends is None:
        assert found is None
    else:
        day = 19 if ends.endswith("+1") else 18
        assert found == datetime.fromisoformat(f"2026-11-{day}T{ends.removesuffix('+1')}")


def test_a_step_waits_for_its_time_and_for_the_end_of_the_night() -> None:
    noon = NOON.timestamp()
    step = EscalationStep(channel="mail", after=600)
    assert due_at(step, noon, noon, NIGHT) == noon + 600
    late = NOON.replace(hour=23).timestamp()
    morning = (NOON.replace(hour=7) + timedelta(days=1)).timestamp()
    assert due_at(step, late, late, NIGHT) == morning
    # The night began while it waited, or while nothing ran.
    assert due_at(step, noon, late, NIGHT) == morning
    assert due_at(step.model_copy(update={"at_night": True}), late, late, NIGHT) == late + 600


def test_a_step_for_the_night_overtakes_those_that_wait_for_the_morning() -> None:
    chain = [EscalationStep(channel="desktop"), EscalationStep(channel="slack:C1", after=60)]
    chain.append(EscalationStep(channel="mail", after=600, at_night=True))
    noon, late = NOON.timestamp(), NOON.replace(hour=23).timestamp()
    morning = (NOON.replace(hour=7) + timedelta(days=1)).timestamp()
    assert next_step(chain, 0, noon, noon, NIGHT) == (0, noon)
    assert next_step(chain, 1, noon, noon, NIGHT) == (1, noon + 60)
    assert next_step(chain, 0, late, late, NIGHT) == (2, late + 600)
    assert next_step(chain[:2], 0, late, late, NIGHT) == (0, morning)


def test_rules_with_mistakes_are_refused() -> None:
    for wrong in ({"quiet": "22-7"}, {"quiet": "25:00-07:00"}, {"chain": [{"channel": "pigeon"}]}, {"on": ["done"]}):
        with pytest.raises(ValueError):
            EscalationRules.model_validate(wrong)
    assert parse_quiet("") is None and QuietHours(0, 60).ends_at(NOON) is None


async def test_an_alert_is_opened_once_and_ended_once_also_after_a_restart(tmp_path: Path) -> None:
    for life in range(3):
        store = DoorsStore(tmp_path / "doors.db")
        store.create("CREATE TABLE IF NOT EXISTS subjects (subject TEXT PRIMARY KEY, task_id TEXT NOT NULL)")
        alerts = Alerts(store, CHAIN, None)
        await alerts.open(ALERT, 1_000)  # the same letter again
        due = await alerts.due(10)
        match life:
            case 0:
                assert [each.step for each in due] == [0]
                await alerts.advance(due[0], 1_000)
            case 1:
                assert [each.step for each in due] == [1]
                ended = await alerts.end("acknowledged", "U1", key=ALERT.key)
                assert [each.step for each in ended] == [1]
                assert await alerts.end("acknowledged", "U2", key=ALERT.key) == []
            case 2:
                assert due == [] and await alerts.next_at() is None
        await store.close()


async def test_a_task_that_goes_on_settles_what_was_before_and_nothing_later(tmp_path: Path) -> None:
    store = DoorsStore(tmp_path / "doors.db")
    alerts = Alerts(store, CHAIN, None)
    await alerts.open(ALERT, 1_000)
    await alerts.open(ALERT._replace(key="later", since=3_000.0), 3_000)
    await alerts.open(ALERT._replace(key="other", task_id="t_2"), 1_000)
    assert [each.key for each in await alerts.end("settled", "running", task_id="t_1", before=2_000)] == [ALERT.key]
    assert {each.key for each in await alerts.due(10)} == {"later", "other"}
    await store.close()


async def test_the_end_of_the_chain_can_still_be_acknowledged(tmp_path: Path) -> None:
    store = DoorsStore(tmp_path / "doors.db")
    alerts = Alerts(store, CHAIN, None)
    await alerts.open(ALERT, 1_000)
    for _ in CHAIN:
        (due,) = await alerts.due(10)
        await alerts.advance(due, 2_000)
    assert await alerts.due(10) == [] and await alerts.next_at() is None
    assert [each.step for each in await alerts.end("acknowledged", "U1", key=ALERT.key)] == [2]
    await store.close()


def test_a_mail_holds_one_line_as_its_subject_whatever_the_text_is() -> None:
    text = "bad\r\nBcc: everyone@example.com\n" + "x" * 500
    letter = OutboxMessage(
        1, "alert.t_1.5.step0", "mail", json.dumps({"title": "Failed", "text": text, "taskId": "t_1"}), 0
    )
    message = compose(letter, "brain@example.com", ["a@example.com", "b@example.com"])
    assert message["Bcc"] is None and "\n" not in message["Subject"] and len(message["Subject"]) <= 150
    assert message["To"] == "a@example.com, b@example.com"
    assert message["Message-ID"] == compose(letter, "x@example.com", ["a@example.com"])["Message-ID"]


def test_the_address_of_a_mail_server_is_understood_or_refused() -> None:
    found = parse_server("smtps://me%40x:p%3Aw@mail.example.com?from=brain@x", "you@x")
    assert found == ("mail.example.com", 465, True, "me@x", "p:w", "brain@x")
    assert parse_server("smtp://127.0.0.1:25", "you@x, me@x")[1:] == (25, False, "", "", "you@x")
    for wrong in ("mail.example.com", "http://mail.example.com", "smtp://"):
        with pytest.raises(DoorsError):
            parse_server(wrong, "you@x")
