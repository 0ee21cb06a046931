"""Words that programmers use for the same thing: a question says one, the code another."""

from functools import cache

from sidecar.memory.tokens import stem

_GROUPS = """
get fetch retrieve return obtain load lookup read
set assign update store put
delete remove drop erase clear discard unset
create make build construct new generate produce init initialize
check verify validate ensure test assert is has can
find search locate lookup resolve match
convert transform parse translate cast coerce normalize to
send emit dispatch post publish write output
start begin launch run execute open init
stop end finish close terminate shutdown kill halt
add append insert push register attach
show display print render format
list enumerate iterate walk traverse visit each
change modify update edit alter mutate patch
compare diff equal same
copy clone duplicate
config configuration option setting preference
error exception failure panic warning
directory folder dir
argument param parameter arg option
function func fn callable callback handler method
string str text
number int num count
path file filename
element el node item entry
attribute attr property prop field
url uri link href
message msg text
split separate tokenize lex
merge combine join concat extend
sort order rank
enable activate resume allow
disable deactivate pause suspend
"""


@cache
def _table() -> dict[str, dict[str, None]]:
    """In the order of the groups: a search takes the first, and must take the same after a restart."""
    found: dict[str, dict[str, None]] = {}
    for line in _GROUPS.strip().split("\n"):
        words = [stem(word) for word in line.split()]
        for word in words:
            found.setdefault(word, {}).update(dict.fromkeys(each for each in words if each != word))
    return found


def related(term: str) -> list[tuple[str, float]]:
    """Terms that may replace this one, each with a weight below 1."""
    return [(other, 0.5) for other in _table().get(term, ())]
