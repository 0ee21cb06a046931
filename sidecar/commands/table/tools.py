"""The commands of the groups "Code" and "Tools and permissions"."""

from sidecar.commands.table.arguments import (
    GRANT,
    GRANTS,
    JSON,
    WORKSPACE,
    action,
    approvals,
    arg,
    command,
    flag,
    in_group,
    positive,
)

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

TOOLS = in_group(
    "Tools and permissions",
    command(
        "tools",
        "list the tools",
        "List the tools: what each does, its arguments, and whether it changes anything.",
        """\
brain tools
brain tools --json | jq '.[] | select(.name == "search_code") | .parameters'""",
        "tools:list_tools",
        flag("--json", help="print everything as a JSON list"),
    ),
    command(
        "tool",
        "run one tool without a model",
        "Run one tool the way agents do: validated, checked against the policy, and with bounded output. Values are "
        "parsed as JSON where possible, else taken as text; to force text, quote twice: query='\"42\"'.",
        """\
brain tool list_dir path=sidecar
brain tool search_code query=TODO maxResults=5
brain tool run_command command='git status' --approvals auto
brain tool read_file path=README.md startLine=1 endLine=5 --json""",
        "tools:run_tool",
        arg("name", metavar="NAME", help="tool name; `brain tools` lists them"),
        arg("args", metavar="key=value", nargs="*", help="the tool's arguments"),
        WORKSPACE,
        approvals("auto lets it run commands (default: ask)"),
        flag("--json", help="print the whole result as JSON"),
    ),
    command(
        "route",
        "explain how a task would be routed",
        "Show the intent and pipeline the router would choose for a task, and why. Runs nothing.",
        'brain route "rename the class and update its callers"',
        "tools:route",
        arg("task", help="the task, in plain words"),
        JSON,
        WORKSPACE,
    ),
    command(
        "policy",
        "explain whether a call would be allowed; grant, list and revoke permissions",
        "`explain` says whether a command or another tool call would be allowed, need your approval, or be denied; it "
        "runs nothing. `allow` grants a repository a standing permission, for unattended tasks; it also covers "
        "the worktrees and clones that the sidecar makes of it. `list` shows grants and the approvals you gave for "
        "whole workspaces, `revoke` takes one back. Harmless programs are listed in `tools/policy/programs.toml`; your "
        "own `policy.toml` in the configuration directory has the same format and comes first.",
        """\
brain policy explain "git log -5"
brain policy explain --approvals auto "npm install"
brain policy allow install npm                install packages from the registry
brain policy allow checks                     run tests, builds and linters, also untrusted
brain policy allow command "make docs"        run exactly this command
brain policy allow spend 2.50 --for 30d       at most so many dollars for each unattended task
brain policy allow-read ~/fixtures            commands may read this path
brain policy allow-host api.example.com       commands may reach this host
brain policy list
brain policy revoke g_17""",
        "",
        actions=(
            action(
                "explain",
                "allowed, needs approval, or denied?",
                "Explain whether a call would be allowed. The exit code is 1 if it would be denied.",
                "tools:explain",
                arg("words", metavar="COMMAND", nargs="+", help="a command; with --tool its key=value arguments"),
                arg("--tool", metavar="NAME", help="tool to call (default: run_command)"),
                approvals("the task's mode: ask, edits, auto or readonly (default: ask)"),
                JSON,
                WORKSPACE,
            ),
            action(
                "list",
                "list grants, and approvals for whole workspaces",
                "List the grants of repositories, and the approvals you gave for whole workspaces or running tasks.",
                "tools:list_permissions",
                JSON,
            ),
            action(
                "allow",
                "grant a repository a standing permission",
                "Grant a repository a standing permission. `command` runs exactly this command line; `install` "
                "installs packages with a package manager (all known ones without VALUE) from its registry; `checks` "
                "runs tests, builds and linters, or one command; `spend` limits the dollars of each unattended task; "
                "`host` and `read` widen the sandbox.",
                "tools:allow",
                arg("kind", metavar="KIND", choices=lambda: GRANTS, help=f"one of {', '.join(GRANTS)}"),
                arg("value", metavar="VALUE", nargs="?", help="the command, package manager, amount, host or path"),
                *GRANT,
            ),
            action(
                "allow-read",
                "let a repository's commands read a path outside it",
                "Let a repository's commands read a path outside the workspace.",
                "tools:allow_read",
                arg("path", metavar="PATH", help="file or directory"),
                *GRANT,
            ),
            action(
                "allow-host",
                "let a repository's commands reach a host",
                "Let a repository's commands reach a host by its name.",
                "tools:allow_host",
                arg("name", metavar="NAME", help="host name, such as api.example.com"),
                *GRANT,
            ),
            action(
                "revoke",
                "revoke a grant or an approval",
                "Revoke a grant or an approval; it needs your approval again, also in running tasks.",
                "tools:revoke",
                arg("id", metavar="ID", help="id from `brain policy list`"),
            ),
        ),
    ),
    command(
        "mcp",
        "serve tasks to MCP clients; use the tools of MCP servers",
        "Without an action it is an MCP server on standard input and output: Claude Desktop, Cursor and others start "
        "it, hand over tasks, watch them and undo them. The same is at `/mcp` of a running sidecar, with its "
        "token.\n\n"
        "Agents can use the tools of MCP servers. They are in `mcp.json` of the configuration directory, in the format "
        "of Claude Code, Cursor and VS Code, and in `.mcp.json` and `.vscode/mcp.json` of a workspace that you trust. "
        "A server runs in the sandbox with what its entry grants: no network and no writing unless it says so. You "
        "accept its tools once; when one of them changes, you are asked again.",
        """\
brain mcp                                             for the configuration of an MCP client
brain mcp add notes --network -- npx -y @modelcontextprotocol/server-memory
brain mcp add files --write . -- mcp-server-filesystem .
brain mcp add tickets --header "Authorization: Bearer ${TICKETS_TOKEN}" https://mcp.example.com/mcp
brain mcp list
brain mcp test notes
brain mcp remove notes""",
        "mcp:serve",
        WORKSPACE,
        actions=(
            action(
                "add",
                "add a server to your own mcp.json, and show its tools",
                "Add a server to your own mcp.json and show its tools. Options come before -- and the command.",
                "mcp:add",
                arg("name", metavar="NAME", help="agents call its tools NAME__TOOL"),
                arg("command", metavar="COMMAND", nargs="+", help="its command after --, or its address"),
                arg("--env", metavar="NAME=VALUE", action="append", help="variable of its environment"),
                arg("--header", metavar="NAME:VALUE", action="append", help="header for its address"),
                flag("--network", help="let it use the network"),
                arg("--read", metavar="PATH", action="append", help="let it read this path"),
                arg("--write", metavar="PATH", action="append", help="let it write below this path"),
                arg("--allow", metavar="TOOL", action="append", help="tool that needs no approval; * for all"),
                flag("--yes", help="accept its tools without asking"),
                WORKSPACE,
                intermixed=True,
            ),
            action(
                "list",
                "list the servers and their state",
                "List the servers of your configuration and this workspace, and what is known of them. Starts none.",
                "mcp:list_servers",
                JSON,
                WORKSPACE,
            ),
            action(
                "test",
                "start a server and list its tools",
                "Start a server, list its tools, and offer to accept them.",
                "mcp:test",
                arg("name", metavar="NAME", help="name in mcp.json"),
                flag("--accept", help="accept its tools as they are"),
                JSON,
                WORKSPACE,
            ),
            action(
                "resources",
                "list the resources and prompts that a task can name",
                "List what a task can name: @SERVER:RESOURCE attaches a resource, /SERVER:PROMPT at its start runs a "
                "prompt. Only servers whose tools you accepted are asked.",
                "mcp:list_references",
                JSON,
                WORKSPACE,
            ),
            action(
                "login",
                "sign in to a remote server",
                "Sign in to a remote server with your browser. Its tokens are kept in the data directory and renewed.",
                "mcp:login",
                arg("name", metavar="NAME", help="name in mcp.json"),
                WORKSPACE,
            ),
            action(
                "input",
                "store a value that an entry asks for",
                "Store the value of ${input:ID} in an entry; it is read from the terminal or standard input.",
                "mcp:set_input",
                arg("name", metavar="ID", help="id of the input"),
            ),
            action(
                "remove",
                "remove a server from your own mcp.json",
                "Remove a server from your own mcp.json and forget its tools.",
                "mcp:remove",
                arg("name", metavar="NAME", help="name in mcp.json"),
            ),
        ),
    ),
    command(
        "trust",
        "trust a workspace to run its tests and harmless commands",
        "Trust a directory: its own tests and harmless commands then run without asking, and its configuration counts. "
        "Trust is stored outside of the directory and ends when what the directory runs or configures changes.",
        """\
brain trust                    trust the current directory
brain trust ~/src/app --revoke
brain trust --list""",
        "tools:trust",
        arg("directory", metavar="DIR", nargs="?", default=".", help="default: current directory"),
        flag("--revoke", help="stop trusting it"),
        flag("--list", help="list trusted directories and change nothing"),
        JSON,
    ),
)
