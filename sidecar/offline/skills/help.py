"""Says what the offline model can do, and how to configure a language model for the rest."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import phrases
from sidecar.offline.results import records, strings
from sidecar.offline.skill import Act, Move, Say
from sidecar.wire.base import JsonObject

_HELP = phrases(
    """
    (help|usage|commands|\\?|man|--help|-h|h)
    {what} (can|could|do) you (do|help( me)? with|understand|know)( here| for me| offline)?
    what (can|should|could) i (ask|say|do|type|try)( you| here)?( to do)?
    (show|list|tell)( me)?( all)?( of)? (your|the) (skills|commands|abilities|capabilities|features|examples)
    how (do|can|should) i use (this|you|it|brain|rainy brain)
    (give|show)( me)? (some |an? )?(examples?|help)
    (who|what) are you( able to do| capable of)?
    (i need|i want|get|show)( me)?( some)? help
    """,
    what=r"(?:what|which\s+things|what\s+all|what\s+else|what\s+kind\s+of\s+(?:things|tasks))",
)
_MODEL = phrases(
    """
    how (do|can|would|should) (i|you|we) {use} {model}.{0,40}
    {use} {model}
    (where|how) (do|can) i (put|enter|set|add|store)( in)? (my|an|the) (api )?key.{0,40}
    (which|what) {models} (can|could|do|should) (i|you|we) (use|support|have).{0,20}
    (which|what) {models} are (there|supported|available).{0,20}
    (i have|here is) (my |an )?(api )?key.{0,40}
    what (does|is) ((it|this|the) )?offline( mode| model)?( mean)?
    why (are you|is it|is this|am i) (running )?offline
    (which|what) (language )?model (are you|is (this|it|used)|do you use)( using| running)?
    """,
    use=r"(?:use|configure|set\s?up|connect|add|choose|switch\s+to|install|get|enable|change(?:\s+to)?|select|pick|run)",
    model=r"(?:(?:an?|the|my|another|some|other|to)\s+)*"
    r"(?:(?:real|language|better|different|other|proper|large|local|ai|llm)\s+)*"
    r"(?:models?|llms?|providers?|claude[\w.-]*|gpt[\w.-]*|gemini[\w.-]*|openai|anthropic|groq|ollama|lm\s?studio|llama(?:\.cpp)?)",
    models=r"(?:(?:language|ai|local)\s+)?(?:models?|llms?|providers?)",
)
#: Example requests by purpose. With a file, a function and a test of the project in the braces, each works as written.
GROUPS = (
    (
        "Understand",
        (
            "what does this project do?",
            "explain `{symbol}`",
            "explain {file}",
            "explain {file}:1-20",
            "who calls `{symbol}`?",
            "what breaks if I change `{symbol}`?",
        ),
    ),
    ("Make", ("create a python package called textkit", "create a react app called shop")),
    (
        "Change",
        (
            "rename `{symbol}` to `{other}`",
            "remove unused imports",
            "move `{symbol}` from {file} to {target}",
            "format the code",
        ),
    ),
    ("Run", ("run the tests", "run the linter", "build it", "install the dependencies", "run `git status`")),
    ("Review", ("review my changes", "review {file}", "look over the last commit")),
    (
        "Git",
        ("what did I change?", "suggest a commit message", "commit my changes", "what changed since yesterday?"),
    ),
    ("Look", ("list the files", 'search for "TODO"', "find all TODOs", "how many lines does {file} have?")),
)
MODEL = """\
A language model does what rules cannot. There are three ways to one:

1. **With a key**: `brain keys set anthropic` asks for a key and stores it (so do `gemini`, `openai` and `groq`); then \
`brain models` lists the models, and `brain use anthropic/…` chooses one.
2. **On this machine**, without a key: start Ollama, LM Studio, llama.cpp or vLLM; `brain models` finds it, and \
`brain use openai/qwen3 --at http://127.0.0.1:11434/v1`, for example, chooses it.
3. **From the environment**: a key in `ANTHROPIC_API_KEY`, `GEMINI_API_KEY`, `OPENAI_API_KEY` or `GROQ_API_KEY`.

`brain doctor` reports what it finds and what is missing; the panel's settings show the same. A choice applies from \
the next task on."""
CONFIGURE = (
    "Configure a language model for it: `brain keys set anthropic` stores a key, `brain models` lists models on this "
    "machine, and `brain doctor` helps."
)
_WORD = re.compile(r"[`\w./@-]+")
_SMALL = re.compile(
    r"an?|the|th(?:is|at|ese|ose)|my|our|your|me|i|you|we|it|is|are|was|be|do|does|did|can|could|would|will|should|to|of|in|"
    r"on|at|for|with|and|or|but|if|so|as|by|from|into|about|please|pls|what|how|why|when|there|here|have",
    re.IGNORECASE,
)
_PATH = re.compile(r"/|\.(py|tsx?|jsx?|md|go|rs|java|c|h|json|toml|ya?ml|css|html)$")
_NAME = re.compile(r"_|[a-z][A-Z]|^`.+`$|\(\)$")
_ENDING = re.compile(r"(?:ies|ing|ed|es|s|e)$")
_NEAREST = 3


#: What an example needs that not every project has: a command of this kind, tests, or Git.
_NEEDS = {
    "format the code": "format",
    "run the tests": "tests",
    "run the linter": "lint",
    "build it": "build",
    "install the dependencies": "install",
    "run `git status`": "git",
    "review my changes": "git",
    "look over the last commit": "git",
    "what did I change?": "git",
    "suggest a commit message": "git",
    "commit my changes": "git",
    "what changed since yesterday?": "git",
    "who wrote line 1 of {file}?": "git",
}


class Names(NamedTuple):
    """What this project has, so that examples work in it: a file, a function in it, and kinds of commands."""

    file: str = ""
    symbol: str = ""
    kinds: frozenset[str] = frozenset()

    def fill(self, example: str) -> str:
        """The example with these names; empty if it needs something that there isn't."""
        if ("{file}" in example and not self.file) or ("{symbol}" in example and not self.symbol):
            return ""
        if example in _NEEDS and _NEEDS[example] not in self.kinds:
            return ""
        folder, _, name = self.file.rpartition("/")
        target = posixpath.join(folder, f"more_{name}")
        other = f"{self.symbol}_2" if "_" in self.symbol or self.symbol.islower() else f"{self.symbol}2"
        return example.format(file=self.file, symbol=self.symbol, other=other, target=target)


_STAND_IN = Names("src/app.py", "parse_line", frozenset(_NEEDS.values()))
_LOOKS: tuple[tuple[str, JsonObject], ...] = (
    ("describe_project", {"sections": ["biggest"]}),
    ("find_commands", {}),
    ("git_status", {}),
)


def find_names(question: ParsedRequest) -> Act | Names:
    """What this project has, or the calls that find it out."""
    looks = [(tool, args) for tool, args in _LOOKS if tool in question.offered]
    found = {each.tool: each for each in question.returns if each.status == "success"}
    if not looks:
        return Names()
    if not question.returns:
        return Act(looks)
    commands = found["find_commands"].details.get("commands") if "find_commands" in found else None
    kinds = {*(commands if isinstance(commands, dict) else ()), *(("git",) if "git_status" in found else ())}
    project = found.get("describe_project")
    if project is None:
        return Names(kinds=frozenset(kinds))
    kinds |= {"tests"} if project.details.get("tests") else set()
    files = [path for path in strings(project, "biggest") if re.fullmatch(r"[\w./@+-]+", path)]
    if not files:
        return Names(kinds=frozenset(kinds))
    outline = next((each for each in question.returns if each.tool == "analyze_code"), None)
    if outline is None and "analyze_code" in question.offered:
        return Act([("analyze_code", {"path": files[0]})])
    symbols = [
        str(each["name"])
        for each in (records(outline, "symbols") if outline is not None else ())
        if not each.get("parent") and each["kind"] in ("function", "class", "type")
    ]
    public = [name for name in symbols if not name.startswith("_")] or symbols
    return Names(files[0], public[0] if public else "", frozenset(kinds))


class Help:
    example = "what can you do?"
    tools: frozenset[str] = frozenset()

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        if _MODEL.match(question.words):
            return {"model": True}
        greeted = not question.words and question.asked.strip()
        return {"model": False} if greeted or _HELP.match(question.words) else None

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        if args["model"]:
            return Say(MODEL)
        names = find_names(question)
        if isinstance(names, Act):
            return names
        lines = []
        for title, examples in GROUPS:
            filled = [text for example in examples if (text := names.fill(example))]
            lines += [f"- **{title}**: {', '.join(f'“{each}”' for each in filled)}"] if filled else []
        head = "This is the offline model: it works by rules, without a key and without a network. For example:"
        foot = "For everything else, use a language model: say “how do I use a real model?”."
        return Say("\n".join([head, "", *lines, "", foot]))


def describe_nearest(question: ParsedRequest, examples: Sequence[str]) -> Act | str:
    """The answer to a request that no skill understands, or the calls that find names for its suggestions."""
    by_text = {_STAND_IN.fill(example): example for example in examples}
    near = [by_text[text] for text in nearest(question.asked, by_text)]
    needed = any("{" in example or example in _NEEDS for example in near)
    names: Act | Names = find_names(question) if needed else Names()
    if isinstance(names, Act):
        return names
    filled = [text for example in near if (text := names.fill(example))]
    if filled:
        hint = f"The nearest that it can do: {', '.join(f'“{example}”' for example in filled)}."
    else:
        hint = "Say “what can you do?” to see what it can."
    return f"The offline model works by rules and did not understand this. {hint} {CONFIGURE}"


def nearest(asked: str, examples: Iterable[str]) -> list[str]:
    """The examples that share most of the words, best first."""
    known = list(dict.fromkeys(examples))
    common = Counter(word for example in known for word in _words(example))
    wanted = _words(asked)
    # A rare word counts more than a common one.
    scores = {
        example: sum(1 / common[word] for word in shared) / (1 + 0.1 * len(_words(example)))
        for example in known
        if (shared := wanted & _words(example))
    }
    return sorted(scores, key=lambda example: -scores[example])[:_NEAREST]


def _words(text: str) -> set[str]:
    found = set()
    for word in _WORD.findall(text):
        bare = word.strip("`.-")
        if not bare or _SMALL.fullmatch(bare):
            continue
        if _PATH.search(bare):
            found.add("<path>")
        elif _NAME.search(word):
            found.add("<name>")
        else:
            found.add(_ENDING.sub("", bare.lower()) if len(bare) > 3 else bare.lower())
    return found
