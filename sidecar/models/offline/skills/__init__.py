"""One skill a file. The first that recognises a question answers it, so the more particular stand first."""

from sidecar.models.offline.skill import Skill
from sidecar.models.offline.skills.commands import Commands
from sidecar.models.offline.skills.listing import Listing
from sidecar.models.offline.skills.rename import Rename
from sidecar.models.offline.skills.scaffold import Scaffold
from sidecar.models.offline.skills.search import Search
from sidecar.models.offline.skills.test_runs import TestRuns

SKILLS: tuple[Skill, ...] = (Scaffold(), Rename(), TestRuns(), Listing(), Search(), Commands())
