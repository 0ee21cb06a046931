"""What the person says while a task is at work, and whether it has reached somebody who could act on it."""

from collections.abc import Sequence

from sidecar.engine.run import TaskRun
from sidecar.engine.state import UserMessage
from sidecar.work.handover import HELPERS


def missed(run: TaskRun) -> Sequence[UserMessage]:
    """What came when the work was done: during a review, a check, or somebody's last word."""
    said = [message for message in run.inbox.messages() if not message.is_news]
    if not said:
        return ()
    current = run.state.current_round
    turns = [(key.agent, turn) for key, turn in run.state.turns.items() if key.round == current]
    # Where there is nobody else, as in a review that was asked for, it is the helper's own work.
    heard_by = [turn for agent, turn in turns if agent not in HELPERS] or [turn for _, turn in turns]
    heard = {message for turn in heard_by for message in turn.heard}
    return [message for message in said if message.id not in heard]
