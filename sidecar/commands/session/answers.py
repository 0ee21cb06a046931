"""Whether a typed line answers an approval or a question. It knows no terminal; the caller passes the time.

Typing must never approve anything: a line counts only if its first key came after the prompt had been on the screen for
a moment without any key, and only if the whole line is an answer.
"""

#: How long a prompt must have been shown, without a key, before keys count.
QUIET_SECONDS = 0.7


class AnswerGate:
    def __init__(self) -> None:
        self._prompt = ""
        self._armed_at = 0.0
        self._began_at: float | None = None

    def show(self, prompt_id: str, now: float) -> None:
        """The prompt is on the screen."""
        if prompt_id != self._prompt:
            self._prompt = prompt_id
            self._armed_at = now + QUIET_SECONDS

    def key(self, now: float, *, empty: bool) -> None:
        """A key changed the line; `empty` if nothing is left of it."""
        if now < self._armed_at:
            self._armed_at = now + QUIET_SECONDS
        if empty:
            self._began_at = None
        elif self._began_at is None:
            self._began_at = now

    def submit(self, prompt_id: str, now: float) -> bool:
        """Whether the line that is submitted now was typed in answer to this prompt."""
        began = now if self._began_at is None else self._began_at
        self._began_at = None
        return bool(prompt_id) and prompt_id == self._prompt and began >= self._armed_at
