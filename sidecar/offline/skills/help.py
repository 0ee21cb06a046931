"""Says what the offline model can do, and how a language model is configured for the rest."""

from sidecar.offline.phrases import phrases, understood
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
#: What it can do, by what it is for: each is said as it stands.
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

1. **With a key**: `brain keys set anthropic` asks for it and puts it away (so do `gemini`, `openai` and `groq`); then \
`brain models` lists the models, and `brain use anthropic/…` chooses one.
2. **On this machine**, without a key: start Ollama, LM Studio, llama.cpp or vLLM; `brain models` finds it, and \
`brain use openai/qwen3 --at http://127.0.0.1:11434/v1`, for example, chooses it.
3. **From the environment**: a key in `ANTHROPIC_API_KEY`, `GEMINI_API_KEY`, `OPENAI_API_KEY` or `GROQ_API_KEY`.

`brain doctor` says what was found and what is missing; the panel has the same in its settings. A choice holds from \
the next task on."""


class Help:
    example = "what can you do?"
    tools: frozenset[str] = frozenset()

    def recognise(self, question: Question) -> JsonObject | None:
        if understood(_MODEL, question.words):
            return {"model": True}
        greeted = not question.words and question.asked.strip()
        return {"model": False} if greeted or understood(_HELP, question.words) else None

    def next(self, wish: JsonObject, question: Question) -> Move:
        if wish["model"]:
            return Say(MODEL)
        lines = [f"- **{title}**: {', '.join(f'“{each}”' for each in examples)}" for title, examples in GROUPS]
        head = "This is the offline model: it works by rules, without a key and without a network. For example:"
        foot = "For everything else, use a language model: say “how do I use a real model?”."
        return Say("\n".join([head, "", *lines, "", foot]))
