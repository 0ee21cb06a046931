"""The commands of the group "Setup"."""

import argparse
from pathlib import Path

from sidecar.commands.table.arguments import (
    JSON,
    PORT,
    ROLES,
    WORKSPACE,
    action,
    arg,
    choice,
    command,
    flag,
    in_group,
    providers,
)

SETUP = in_group(
    "Setup",
    command(
        "keys",
        "store, list or remove API keys",
        "Store the API key of a model provider in your system's keyring, or in a private file if there is none. Keys "
        "in the environment win. No command shows a key or reads one from a workspace.",
        """\
brain keys                                which keys exist, and where
brain keys set anthropic                  prompts for the key
pass show anthropic | brain keys set anthropic
brain keys rm anthropic""",
        "models:keys",
        choice("action", "ACTION", ("list", "set", "remove", "rm"), nargs="?", default="list"),
        arg("provider", choices=providers, metavar="PROVIDER", nargs="?", help="anthropic, gemini, openai or groq"),
        JSON,
    ),
    command(
        "tokens",
        "give people and programs access from other machines",
        "Create, list or remove named tokens. `look` reads; `work` also starts and steers tasks that ask, and its "
        "words are no consent; `decide` also answers approvals and questions and changes what is permitted. A token is "
        "shown once and kept as a hash, in a fleet in its database; a removed one is refused at once (by other nodes "
        "within a second or two), and its streams end. Actions are recorded with the name. MCP clients use them too.",
        """\
brain tokens                              list the tokens and their roles
brain tokens add alice --role work
brain tokens remove alice""",
        "tokens:tokens",
        choice("action", "ACTION", ("list", "add", "remove", "rm"), nargs="?", default="list"),
        arg("name", metavar="NAME", nargs="?", help="whose token"),
        arg("--role", choices=lambda: ("look", "work", "decide"), metavar="ROLE", help="look, work or decide"),
        JSON,
    ),
    command(
        "models",
        "list models and model roles",
        "List which model plays which role, whether each is available, and the model servers on this machine (Ollama, "
        "LM Studio, llama.cpp, vLLM) with the context size and tool support they report.",
        """\
brain models
brain models --no-search                  don't look for local servers
brain models --test                       send one small request to each model
brain models --test groq/openai/gpt-oss-20b""",
        "models:models",
        JSON,
        flag("--no-search", help="don't look for model servers on this machine"),
        arg("--test", nargs="?", const="", metavar="MODEL", help="test one model, or all that play a role"),
    ),
    command(
        "use",
        "choose the model of a role",
        "Choose the model for every role, or for one. It tests the model with one small request and writes your choice "
        "to config.toml; the next task uses it. `offline` needs no key; `auto` uses the providers you have keys for.",
        """\
brain use anthropic/claude-sonnet-5-5
brain use --role fast groq/openai/gpt-oss-20b
brain use anthropic/claude-sonnet-5-5,offline              falls back to offline
brain use openai/qwen3 --at http://127.0.0.1:11434/v1      a server on this machine
brain use auto""",
        "models:use",
        arg("model", metavar="MODEL", help="provider/name (several with commas), offline, or auto"),
        choice("--role", "ROLE", ROLES, help="only this role (default: every role)"),
        arg("--at", metavar="URL", help="server on this machine for openai/…, or `openai` for OpenAI itself"),
        flag("--force", help="choose it even if it doesn't answer"),
        JSON,
    ),
    command(
        "doctor",
        "check the setup and suggest fixes",
        "Check everything Rainy Brain depends on and suggest a fix for each problem. Keys are never shown. The exit "
        "code is 1 only if something essential is missing.",
        """\
brain doctor
brain doctor --json | jq '.[] | select(.state != "ok")'""",
        "doctor:doctor",
        flag("--json", help="print a JSON list"),
        WORKSPACE,
    ),
    command(
        "service",
        "let your system keep a sidecar running",
        "Install the sidecar as a service of your own account: a systemd user unit on Linux, a launchd agent on macOS. "
        "It starts when you log in, and again if it crashes. Nothing needs root.",
        """\
brain service install
brain service status
brain service uninstall""",
        "",
        actions=(
            action(
                "install",
                "write the service and start it",
                "Write the unit or agent and start it.",
                "service:install",
                PORT,
                flag("--no-start", help="only write the file"),
                examples="brain service install --port 3847",
            ),
            action(
                "uninstall",
                "stop the service and remove it",
                "Stop the service and remove its file. Tasks are kept.",
                "service:uninstall",
                examples="brain service uninstall",
                data_dir=False,
            ),
            action(
                "status",
                "show whether it runs",
                "Show the service as your system sees it.",
                "service:status",
                examples="brain service status",
                data_dir=False,
            ),
        ),
    ),
    command(
        "upgrade",
        "install a newer version",
        "Install the newest version, or the one you name, beside this one, start it once as a test, and swap the two "
        "in one step: you have the old or the new version, never half of one. A running sidecar is restarted, and its "
        "unfinished tasks go on. For a bundle, name the downloaded archive; its checksum must be in the file "
        "SHA256SUMS beside it.",
        """\
brain upgrade
brain upgrade 0.2.0
brain upgrade --from ~/Downloads/rainy_brain-0.2.0-py3-none-any.whl""",
        "upgrade:upgrade",
        arg("version", metavar="VERSION", nargs="?", help="this version (default: the newest)"),
        arg("--from", dest="source", type=Path, metavar="FILE", help="a wheel, or the archive of a bundle"),
        arg("--sha256", metavar="HEX", help="checksum of the archive, instead of SHA256SUMS"),
    ),
    command(
        "completion",
        "print your shell's completion script",
        "Print a completion script for commands, options, tools and task ids.",
        """\
eval "$(brain completion bash)"                              in ~/.bashrc
eval "$(brain completion zsh)"                               in ~/.zshrc, after compinit
brain completion fish > ~/.config/fish/completions/brain.fish""",
        "completion:completion",
        choice("shell", "SHELL", ("bash", "zsh", "fish"), nargs="?"),
        arg("--words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS),
        data_dir=False,
    ),
)
