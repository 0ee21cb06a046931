"""What deliveries ask for, and who may ask."""

from sidecar.doors import github, hooks, linear, slack
from sidecar.doors.actions import Ignore, StartTask, StopTask, text_at
from sidecar.doors.settings import GithubDoor, IncomingHook, LinearDoor, SlackDoor

GITHUB = GithubDoor(allow=["Alice"], repositories={"Acme/Shop": "/shop"})
ISSUE = {"number": 7, "title": "Totals are wrong", "body": "sum() skips the last item"}


def _issue(action: str, **more: object) -> dict[str, object]:
    base = {"repository": {"full_name": "acme/shop"}, "issue": ISSUE, "sender": {"login": "alice", "type": "User"}}
    return {"action": action, **base, **more}


def test_the_label_of_an_allowed_person_starts_a_task_in_the_repositorys_workspace() -> None:
    action = github.read_event("issues", _issue("labeled", label={"name": "brain"}), GITHUB)
    assert isinstance(action, StartTask)
    assert action.workspace == "/shop"
    assert action.text == "Resolve issue #7 of acme/shop: Totals are wrong\n\nsum() skips the last item"


def test_strangers_bots_other_labels_and_other_repositories_start_nothing() -> None:
    label = {"name": "brain"}
    for event, payload in (
        ("issues", _issue("labeled", label=label, sender={"login": "mallory", "type": "User"})),
        ("issues", _issue("labeled", label=label, sender={"login": "alice", "type": "Bot"})),
        ("issues", _issue("labeled", label=label, sender={})),
        ("issues", _issue("labeled", label={"name": "brainy"})),
        ("issues", _issue("labeled", label=label, repository={"full_name": "acme/other"})),
        ("issues", _issue("opened")),
        ("push", _issue("labeled", label=label)),
        ("issue_comment", _issue("created", comment={"body": "mail me at x@rainy-brain.dev"})),
        ("issue_comment", {"action": "created", "comment": None, "sender": [], "issue": 3}),
    ):
        assert isinstance(github.read_event(event, payload, GITHUB), Ignore), (event, payload)


def test_a_comment_that_mentions_us_steers_and_stop_cancels() -> None:
    said = github.read_event("issue_comment", _issue("created", comment={"body": "@rainy-brain, use fsum"}), GITHUB)
    assert isinstance(said, StartTask)
    assert said.further == "@rainy-brain, use fsum"
    assert (
        github.read_event("issue_comment", _issue("created", comment={"body": "Stop @rainy-brain!"}), GITHUB)
        == StopTask()
    )
    assert github.read_event("issues", _issue("closed"), GITHUB) == StopTask()


def test_linear_sessions_belong_to_their_creator_and_stop_by_signal() -> None:
    door = LinearDoor(allow=["u1"], teams={"ENG": "/shop"})
    session = {
        "id": "s1",
        "creator": {"id": "u1"},
        "issue": {"identifier": "ENG-3", "title": "Mend", "team": {"key": "ENG"}},
    }
    created = {"type": "AgentSessionEvent", "action": "created", "agentSession": session}
    started = linear.read_event("", created, door)
    assert isinstance(started, StartTask)
    assert started.text == "Resolve issue ENG-3: Mend"
    prompted = {**created, "action": "prompted", "agentActivity": {"user": {"id": "u1"}, "signal": "stop"}}
    assert linear.read_event("", prompted, door) == StopTask()
    stranger = {**created, "action": "prompted", "agentActivity": {"user": {"id": "u2"}, "content": {"body": "hi"}}}
    assert isinstance(linear.read_event("", stranger, door), Ignore)


def test_slack_mentions_of_allowed_people_start_tasks_and_a_thread_is_one_subject() -> None:
    door = SlackDoor(allow=["U1"], channels={"C1": "/shop"})
    event = {"type": "app_mention", "user": "U1", "channel": "C1", "text": "<@UBOT> run the tests", "ts": "5.1"}
    action = slack.read_event("", {"event": event}, door)
    assert isinstance(action, StartTask)
    assert action.text == "run the tests"
    assert slack.subject("", {"event": event}) == slack.subject("", {"event": {**event, "ts": "6", "thread_ts": "5.1"}})
    assert isinstance(slack.read_event("", {"event": {**event, "user": "U2"}}, door), Ignore)
    assert isinstance(slack.read_event("", {"event": {**event, "bot_id": "B"}}, door), Ignore)


def test_a_template_takes_values_by_path_and_never_reads_a_value_as_a_template() -> None:
    hook = IncomingHook(secret="BRAIN_HOOK", workspace="/w", task="Build {build.id} of {repo} failed: {steps.1.name}")
    payload = {"build": {"id": 5, "secret": "x"}, "repo": "{build.secret}\x1b[2J", "steps": [{}, {"name": "lint"}]}
    action = hooks.read_event(payload, hook)
    assert isinstance(action, StartTask)
    assert action.text == "Build 5 of {build.secret} [2J failed: lint"
    assert hooks.read_event({"build": {"id": 5}}, hook) == Ignore("the JSON has no repo, steps.1.name")


def test_a_path_leads_to_text_or_nowhere() -> None:
    for path in ("a.b", "a.99999999999999", "a.-1", "x", "a.0.c", "true"):
        assert text_at({"a": [{"c": None}], "true": True}, path) == ""
