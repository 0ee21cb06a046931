"""What the skills that change code have in common: names and places as people write them, and results in words."""

import re

from sidecar.models.port import ToolReturn
from sidecar.offline.output import refused, why
from sidecar.offline.question import Question
from sidecar.offline.skill import Decline, Move, Say

#: A name of the code, perhaps with the class or function that it belongs to, perhaps between quotes.
NAME = r"(?:[`\"'“‘])?(?P<{0}>[#$]?[^\W\d][\w$]*(?:\.[#$]?[^\W\d][\w$]*)*)(?:\(\))?(?:[`\"'”’])?"
#: A file, or a line of it. Between quotes its name may have spaces.
PATH = (
    r"(?P<{0}_quote>[`\"'“‘])?(?P<{0}>(?:\.{{1,2}}/)?"
    r"(?({0}_quote)[\w@+.()&, -]+(?:/[\w@+.()&, -]+)*|[\w@+.-]+(?:/[\w@+.-]+)*)/?)"
    r"(?::(?P<{0}_line>\d+))?(?:[`\"'”’])?"
)
#: The file that is open in the editor.
HERE = r"(?P<here>this\s+file|the\s+(?:current|open)\s+file|here)"
_SUFFIX = re.compile(
    r"\.(py|pyi|ts|tsx|mts|cts|js|jsx|mjs|cjs|go|rs|java|c|h|cpp|hpp|md|txt|json|toml|ya?ml|css|html)$"
)
_THIS_FILE = frozenset({"this file", "the current file", "the open file", "current file", "here", "it", "this"})
_SELECTED = re.compile(
    r"\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:def|class|function\*?|const|let|var|interface|type|enum)\s+([\w$]+)"
)
_IDENTIFIER = re.compile(r"\s*([#$]?[^\W\d][\w$]*)\s*")


def name_group(group: str) -> str:
    return NAME.format(group)


def path_group(group: str) -> str:
    return PATH.format(group)


def is_path(word: str) -> bool:
    return "/" in word or bool(_SUFFIX.search(word))


def this_file(words: str) -> bool:
    return words.lower().strip() in _THIS_FILE


def selected_name(question: Question) -> str | None:
    """The name that is selected in the editor, or that the selected code defines."""
    code = question.brief.selected_code or ""
    found = _IDENTIFIER.fullmatch(code) or _SELECTED.match(code)
    return found[1] if found else None


def note_of(returned: ToolReturn) -> str:
    """What a tool said of its changes, before it showed them."""
    return returned.content.partition("\n\n")[0].strip()


def shown_diff(returned: ToolReturn) -> str:
    note, _, diff = returned.content.partition("\n\n")
    return f"{note.strip()}\n\n```diff\n{diff.strip()}\n```" if diff.strip() else note.strip()


def said(returned: ToolReturn) -> Move:
    """The last word on one call: what was done, or why not."""
    if refused(returned.content):
        return Say("You said no; nothing was changed.")
    return Say(note_of(returned)) if returned.status == "success" else Decline(why(returned))


def sent_back(question: Question) -> Decline | None:
    """A check found fault with a change that was made by rule: no rule mends it."""
    if not question.brief.part.startswith("fix"):
        return None
    return Decline(
        "The change was made, and a check found fault with it that the offline model cannot mend. Undo it, or "
        "configure a language model: see `brain doctor`."
    )
