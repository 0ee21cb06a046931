"""One skill a file. The first that recognises a question answers it, so the more particular stand first."""

from sidecar.offline.skill import Skill
from sidecar.offline.skills.blame import Blame
from sidecar.offline.skills.commands import Commands
from sidecar.offline.skills.commit_message import CommitMessage
from sidecar.offline.skills.committing import Committing
from sidecar.offline.skills.explain_file import ExplainFile
from sidecar.offline.skills.explain_project import ExplainProject
from sidecar.offline.skills.explain_symbol import ExplainSymbol
from sidecar.offline.skills.formatting import Formatting
from sidecar.offline.skills.git_state import GitState
from sidecar.offline.skills.help import Help
from sidecar.offline.skills.history import History
from sidecar.offline.skills.imports import Imports
from sidecar.offline.skills.listing import Listing
from sidecar.offline.skills.moving import Moving
from sidecar.offline.skills.rename import Rename
from sidecar.offline.skills.review import Review
from sidecar.offline.skills.running import Running
from sidecar.offline.skills.scaffold import Scaffold
from sidecar.offline.skills.search import Search
from sidecar.offline.skills.test_runs import TestRuns
from sidecar.offline.skills.usages import Usages
from sidecar.offline.skills.verdict import ReviewVerdict
from sidecar.offline.skills.writing import Writing

SKILLS: tuple[Skill, ...] = (
    Scaffold(),
    ReviewVerdict(),
    Help(),
    Rename(),
    Imports(),
    Moving(),
    Writing(),
    Formatting(),
    TestRuns(),
    Running(),
    Review(),
    GitState(),
    CommitMessage(),
    Committing(),
    History(),
    Blame(),
    ExplainProject(),
    ExplainFile(),
    Usages(),
    ExplainSymbol(),
    Listing(),
    Search(),
    Commands(),
)
