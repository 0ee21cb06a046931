"""What deliveries ask for, and who may ask."""

from sidecar.doors import github, hooks, linear, slack
from sidecar.doors.actions import EndWork, Ignore, StartTask, Steer, StopTask, text_at
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
    started = linear.read_event("", created, door, {})
    assert isinstance(started, StartTask)
    assert started.text == "Resolve issue ENG-3: Mend"
    prompted = {**created, "action": "prompted", "agentActivity": {"user": {"id": "u1"}, "signal": "stop"}}
    assert linear.read_event("", prompted, door, {}) == StopTask()
    stranger = {**created, "action": "prompted", "agentActivity": {"user": {"id": "u2"}, "content": {"body": "hi"}}}
    assert isinstance(linear.read_event("", stranger, door, {}), Ignore)


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
    named = hooks.read_event(payload, hook.model_copy(update={"agent": "mender"}))
    assert isinstance(named, StartTask) and named.options == {"approvals": "auto", "agentType": "mender"}


def test_a_path_leads_to_text_or_nowhere() -> None:
    for path in ("a.b", "a.99999999999999", "a.-1", "x", "a.0.c", "true"):
        assert text_at({"a": [{"c": None}], "true": True}, path) == ""


def _pull(**more: object) -> dict[str, object]:
    head, base = {"sha": "a" * 40, "ref": "theirs"}, {"sha": "b" * 40, "ref": "main"}
    found = {"number": 9, "title": "Mend", "body": "", "head": head, "base": base, "requested_reviewers": []}
    sender = {"login": "alice", "type": "User"}
    return {"repository": {"full_name": "Acme/Shop"}, "pull_request": {**found, **more}, "sender": sender}


def test_a_review_is_done_only_if_an_allowed_person_asks_us_for_it() -> None:
    asked = {"action": "review_requested", **_pull(requested_reviewers=[{"login": "rainy-brain"}])}
    action = github.read_event("pull_request", asked, GITHUB)
    assert isinstance(action, StartTask)
    assert (action.pull, action.base, action.options["approvals"]) == (9, "b" * 40, "readonly")
    assert github.subject("pull_request", asked) == f"github:acme/shop#9/review/{'a' * 40}"
    for refused in (
        {**asked, "sender": {"login": "mallory", "type": "User"}},
        {"action": "review_requested", **_pull(requested_reviewers=[{"login": "bob"}])},
        {"action": "opened", **_pull()},
    ):
        assert isinstance(github.read_event("pull_request", refused, GITHUB), Ignore)


def test_reviews_steer_and_a_failed_check_speaks_once_about_its_commit() -> None:
    comment = {"body": "Off by one.", "path": "a.py", "line": 3}
    said = github.read_event(
        "pull_request_review_comment", {"action": "created", "comment": comment, **_pull()}, GITHUB
    )
    assert said == Steer("/edit A reviewer of the pull request says about a.py, line 3:\nOff by one.")
    question = {"action": "submitted", "review": {"body": "Why twice?", "state": "commented"}, **_pull()}
    said = github.read_event("pull_request_review", question, GITHUB)
    assert said == Steer("A reviewer of the pull request says:\nWhy twice?")
    empty = {"action": "submitted", "review": {"body": None, "state": "commented"}, **_pull()}
    assert isinstance(github.read_event("pull_request_review", empty, GITHUB), Ignore)
    run = {"name": "ci", "conclusion": "failure", "head_sha": "c" * 40, "output": {"title": "1 failed"}}
    failed = github.read_event("check_run", {"action": "completed", "check_run": run}, GITHUB)
    assert isinstance(failed, Steer) and (failed.head, failed.once) == ("c" * 40, "mend")
    for harmless in ({**run, "conclusion": "success"}, {**run, "name": "rainy-brain"}):
        payload = {"action": "completed", "check_run": harmless}
        assert isinstance(github.read_event("check_run", payload, GITHUB), Ignore)
    unnamed = {"name": "ci", "conclusion": "failure", "head_sha": ""}
    nowhere = github.read_event("check_run", {"action": "completed", "check_run": unnamed}, GITHUB)
    assert isinstance(nowhere, Steer) and nowhere.head  # never about just any commit


def test_only_a_merge_is_a_merge() -> None:
    for merged, expected in ((True, True), (False, False), ("true", False), (None, False)):
        assert github.read_event("pull_request", {"action": "closed", **_pull(merged=merged)}, GITHUB) == EndWork(
            expected
        )
