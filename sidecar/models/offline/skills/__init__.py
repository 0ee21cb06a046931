"""One skill a file. The first that recognises a question answers it, so the more particular stand first."""

from sidecar.models.offline.skill import Skill
from sidecar.models.offline.skills.blame import Blame
from sidecar.models.offline.skills.changelog import Changelog
from sidecar.models.offline.skills.commands import Commands
from sidecar.models.offline.skills.commit_message import CommitMessage
from sidecar.models.offline.skills.committing import Committing
from sidecar.models.offline.skills.constants import Constants
from sidecar.models.offline.skills.docstrings import Docstrings
from sidecar.models.offline.skills.explain_file import ExplainFile
from sidecar.models.offline.skills.explain_project import ExplainProject
from sidecar.models.offline.skills.explain_symbol import ExplainSymbol
from sidecar.models.offline.skills.formatting import Formatting
from sidecar.models.offline.skills.git_state import GitState
from sidecar.models.offline.skills.help import Help
from sidecar.models.offline.skills.history import History
from sidecar.models.offline.skills.imports import Imports
from sidecar.models.offline.skills.listing import Listing
from sidecar.models.offline.skills.moving import Moving
from sidecar.models.offline.skills.readme import Readme
from sidecar.models.offline.skills.rename import Rename
from sidecar.models.offline.skills.review import Review
from sidecar.models.offline.skills.running import Running
from sidecar.models.offline.skills.scaffold import Scaffold
from sidecar.models.offline.skills.search import Search
from sidecar.models.offline.skills.test_runs import TestRuns
from sidecar.models.offline.skills.test_skeletons import TestSkeletons
from sidecar.models.offline.skills.usages import Usages
from sidecar.models.offline.skills.verdict import ReviewVerdict

SKILLS: tuple[Skill, ...] = (
    Scaffold(),
    ReviewVerdict(),
    Help(),
    Rename(),
    Imports(),
    Moving(),
    Constants(),
    Docstrings(),
    TestSkeletons(),
    Formatting(),
    TestRuns(),
    Running(),
    Review(),
    GitState(),
    CommitMessage(),
    Committing(),
    Changelog(),
    Readme(),
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
