"""Says what the offline model can do, and how to configure a language model for the rest."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from sidecar.offline.phrases import phrases
from sidecar.offline.question import Question
from sidecar.offline.skill import Move, Say
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
#: Example requests by purpose; each works as written.
GROUPS = (
    (
        "Understand",
        (
            "what does this project do?",
            "explain `parse_line`",
            "explain src/app.py",
            "who calls `parse_line`?",
            "what breaks if I change `parse_line`?",
        ),
    ),
    ("Make", ("create a python package called textkit", "create a react app called shop")),
    (
        "Change",
        (
            "rename `load` to `read`",
            "remove unused imports",
            "move `parse_line` from src/app.py to src/parsing.py",
            "format the code",
        ),
    ),
    ("Run", ("run the tests", "run the linter", "build it", "install the dependencies", "run `git status`")),
    ("Review", ("review my changes", "review src/app.py", "look over the last commit")),
    (
        "Git",
        ("what did I change?", "suggest a commit message", "commit my changes", "what changed since yesterday?"),
    ),
    ("Look", ("list the files", 'search for "TODO"')),
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


class Help:
    example = "what can you do?"
    tools: frozenset[str] = frozenset()

    def parse(self, question: Question) -> JsonObject | None:
        if _MODEL.match(question.words):
            return {"model": True}
        greeted = not question.words and question.asked.strip()
        return {"model": False} if greeted or _HELP.match(question.words) else None

    def next(self, args: JsonObject, question: Question) -> Move:
        if args["model"]:
            return Say(MODEL)
        lines = [f"- **{title}**: {', '.join(f'“{each}”' for each in examples)}" for title, examples in GROUPS]
        head = "This is the offline model: it works by rules, without a key and without a network. For example:"
        foot = "For everything else, use a language model: say “how do I use a real model?”."
        return Say("\n".join([head, "", *lines, "", foot]))


def describe_nearest(asked: str, examples: Sequence[str]) -> str:
    """The answer to a request that no skill understands."""
    near = nearest(asked, examples)
    if near:
        hint = f"The nearest that it can do: {', '.join(f'“{example}”' for example in near)}."
    else:
        hint = "Say “what can you do?” to see what it can."
    return f"The offline model works by rules and did not understand this. {hint} {CONFIGURE}"


def nearest(asked: str, examples: Iterable[str], most: int = 3) -> list[str]:
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
    return sorted(scores, key=lambda example: -scores[example])[:most]


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
