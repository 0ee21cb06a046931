"""The commands of the group "Code"."""

from sidecar.commands.table.arguments import JSON, WORKSPACE, arg, command, in_group, positive

CODE = in_group(
    "Code",
    command(
        "search",
        "find code by what it does",
        "Find the places in a workspace that do something, described in plain words. The first search builds an index "
        "of the workspace on this machine; later ones take milliseconds.",
        """\
brain search "where are expired sessions removed"
brain search "retry a request" --path src --limit 3
brain search "parse the configuration" --json | jq -r '.hits[] | "\\(.path):\\(.line)"'""",
        "memory:search",
        arg("query", metavar="WORDS", help="what the code does"),
        arg("--path", metavar="PATH", help="only in this folder or file"),
        arg("--kind", metavar="KIND", help="only this kind, such as function, class or section"),
        arg("--days", type=positive, default=0, metavar="N", help="only files changed in the last N days"),
        arg("--limit", type=positive, default=8, metavar="N", help="how many to show (default: %(default)s)"),
        WORKSPACE,
        JSON,
    ),
    command(
        "impact",
        "list what depends on a file or a symbol",
        "List what may break if a file or a symbol changes: the files that import it, nearest first.",
        """\
brain impact sidecar/cache/watcher.py
brain impact parse_arguments --depth 1
brain impact Watcher --path sidecar/cache/watcher.py --json""",
        "memory:impact",
        arg("name", metavar="NAME", help="a file, or the name of a function, class or constant"),
        arg("--path", metavar="FILE", help="the file that defines the symbol, if several do"),
        arg("--depth", type=positive, default=2, metavar="N", help="how many imports away (default: %(default)s)"),
        WORKSPACE,
        JSON,
    ),
    command(
        "memory",
        "show, rebuild or forget the index of a workspace; decide on what agents propose",
        "Show how much of a workspace is indexed and how much room that takes. The index lies in the data directory "
        "and holds nothing that isn't in the workspace. Agents may propose decisions, patterns, team standards and "
        "skills: `notes` lists them, with the difference they make; only you accept them.",
        """\
brain memory
brain memory rebuild
brain memory notes
brain memory accept n_1f0c2a9b4e7d
brain memory forget --workspace ~/project""",
        "memory:manage",
        arg(
            "action",
            nargs="?",
            default="state",
            metavar="ACTION",
            choices=lambda: ("state", "rebuild", "forget", "notes", "accept", "remove"),
            help="state, rebuild (build it anew and wait), forget (delete it), notes, accept ID or remove ID "
            "(default: %(default)s)",
        ),
        arg("id", nargs="?", default="", metavar="ID", help="the note, for accept and remove"),
        WORKSPACE,
        JSON,
    ),
)
