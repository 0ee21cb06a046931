"""Words that people and tools use for the same thing: a request says one, a tool's name another."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cache

from sidecar.memory.tokens import stem

#: One line is one meaning; a hyphen joins the words of a phrase.
_ACTIONS = """
create add new make open insert register generate write compose build file start init put save store draft append
create write leave report
create record remember
delete remove drop erase clear discard purge destroy revoke cancel trash archive prune evict forget unset clean wipe
delete remove get-rid throw tear
update edit change modify alter patch set rename move assign resolve close reopen merge adjust configure mark replace
list search find query show browse enumerate all available lookup look
get fetch read retrieve view inspect describe show load detail check status see download lookup look
send post publish notify reply tell announce inform say create give
reply answer respond
run execute invoke call trigger start launch
stop end kill terminate halt cancel abort shut-down shutdown
retry rerun run-again repeat redo
rollback revert undo rollout roll-back
protect lock prevent forbid restrict block stop
unprotect unlock
approve accept confirm
merge land accept
validate check verify lint
mark finish complete done
upload put store save send attach
select choose pick
type enter fill
drag drop
list count many
download export save fetch
copy clone duplicate fork
move rename transfer
schedule book arrange reserve create
reschedule postpone move update
invite add share create
connect link relate associate attach join create
mute silence snooze pause suspend disable update
enable activate resume start
restart reboot redeploy rollout update
scale resize update
deploy rollout release ship update publish
compare diff difference
convert transform translate
calculate compute evaluate
watch follow subscribe monitor
apply update create
grant allow permit share
log record
assign delegate
upgrade update
"""
_THINGS = """
pr pull-request
mr merge-request
issue ticket bug task story
task card todo
ci pipeline workflow build job
repo repository project
commit revision
release version tag
label tag category
comment remark discussion reply annotation
review feedback
sprint iteration cycle
epic initiative
roadmap plan timeline
board kanban
worklog time hour timesheet
team group squad
user member person people account contact profile
channel room chat
message dm chat text notify tell announce let-know
history said talk wrote written conversation
thread conversation discussion
emoji reaction
reminder alarm remind
email mail inbox
email message
attachment attached
filter rule
folder directory dir
document doc file
spreadsheet sheet excel workbook csv
presentation slide deck powerpoint
permission access share sharing grant acl right
revision version history
event appointment meeting booking schedule
event activity recent recently happen
documentation doc explain help manual reference
tree hierarchy structure folder file
whoami who-am myself me current-user
subgroup group
owner author creator
verdict review decision
calendar schedule agenda appointment
attendee participant guest invitee invite
availability available free busy slot
page article wiki
block paragraph section
database db sql
postgres postgresql sql
table column row record
data-source database table row
query sql statement select
query-plan explain
role user account
key value cache cached entry
hash hget hset hgetall
sorted-set leaderboard score rank zset
stream xread xadd
queue sqs
bucket s3 storage
aws amazon
function lambda serverless
instance ec2 vm virtual-machine server machine
secret password credential
kubernetes k8s kubectl cluster
pod container
pod-exec exec shell command
replica copy instance
port localhost
chart helm
node machine
config-map configmap
configuration config setting preference
ingress hostname route domain
image picture photo
volume disk mount
container process
error exception crash failure traceback stack-trace
alert alarm notification warning monitor
replay recording recorded
organization org company
metric measurement time-series statistic usage
dashboard chart overview
graph chart plot
log trace
incident outage
payment charge transaction purchase pay
invoice bill billing
customer client buyer subscriber
subscription recurring subscriber
refund reimburse money-back
component widget
style color colour font
variable token
screenshot screen capture picture snapshot photo
tab window
form field input
network-request xhr http-request ajax
browser web website site
navigate visit goto url open browse
back previous return
dialog popup alert modal prompt
dropdown option menu
media dark-mode theme color-scheme
console javascript-error
viewport window size
accessibility a11y
url link address
click press tap
key keyboard shortcut
hover mouse pointer cursor
evaluate javascript js script code
entity node
relation relationship edge link connection
observation fact remember know
knowledge memory graph remember
stale old unused inactive outdated obsolete
size big large space
log output console
blame author who
note memo
gdrive google-drive google-docs google-sheets google-doc google-sheet
weather forecast temperature
location place address coordinate street
place restaurant cafe bar hotel shop store pharmacy venue nearby near around
coordinate latitude longitude lat lng gps position geocode
geocode coordinate
map route direction
direction route way travel trip journey train bus car drive walk bike transit get-from
elevation altitude height high sea-level
distance far kilometer mile long
travel-time duration distance
price cost quote
stock ticker
news headline article
paper publication arxiv
video youtube movie film
music song audio
command shell terminal bash
code source script
"""

#: Stemmed words.
Phrase = tuple[str, ...]


@cache
def _table() -> dict[Phrase, dict[Phrase, float]]:
    found: dict[Phrase, dict[Phrase, float]] = defaultdict(dict)
    # Names of things are closer to each other than names of actions, which have many uses.
    for groups, share in ((_ACTIONS, 0.5), (_THINGS, 0.8)):
        for line in groups.strip().split("\n"):
            phrases = [tuple(stem(word) for word in phrase.split("-")) for phrase in line.split()]
            for phrase in phrases:
                found[phrase] |= {each: share for each in phrases if each != phrase}
    return dict(found)


@cache
def _action_words() -> frozenset[str]:
    return frozenset(stem(word) for word in _ACTIONS.replace("-", " ").split())


def names_action(terms: Iterable[str]) -> bool:
    """Whether a request says what to do."""
    return not _action_words().isdisjoint(terms)


def same_meaning(phrase: Phrase) -> dict[Phrase, float]:
    """Phrases that may replace this one, each with a share below 1."""
    return _table().get(phrase, {})
