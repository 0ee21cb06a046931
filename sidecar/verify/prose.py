"""An agent's report as sentences, and where a sentence stops being a plain statement."""

import re

#: Endings of file names without a folder; anything else, such as `Choice.convert`, is a name in code.
_ENDINGS = (
    "py|pyi|pyx|ipynb|js|jsx|mjs|cjs|ts|tsx|mts|cts|vue|svelte|go|rs|java|kt|kts|scala|swift|rb|php|pl|lua|r|jl|ex|exs|"
    "erl|hs|ml|clj|dart|c|h|cc|cpp|cxx|hpp|cs|fs|vb|m|mm|zig|nim|sol|sql|sh|bash|zsh|fish|ps1|bat|cmd|html|htm|css|scss|"
    "sass|less|xml|svg|json|jsonc|json5|jsonl|yaml|yml|toml|ini|cfg|conf|env|properties|lock|mod|sum|gradle|cmake|mk|"
    "tf|proto|graphql|md|mdx|rst|adoc|txt|tex|csv|tsv|log|patch|diff|png|jpg|jpeg|gif|ico|pdf|wasm|zip|gz|db|sqlite"
)
PATH = (
    r"(?!(?i:node|vue|next|nuxt|react|express|three|ember|backbone|alpine|chart|d3)\.js\b)"
    r"(?:(?:\./|/)?[\w.@+-]+(?:/[\w.@+-]+)+\.[A-Za-z][A-Za-z0-9]{0,7}|"
    rf"(?:\./)?[\w.@+-]+\.(?:{_ENDINGS}))(?![\w(])"
)
_DOUBT = re.compile(
    r"\b(?:not|n't|never|no|nothing|would|could|should|will|can|cannot|if|need|needs|want|please|must|might|may|unless|"
    r"before|already|failed|unable|instead|without)\b|n't\b|\?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\"'-])|;\s+|\n+")
_MAX_CHARACTERS = 20_000
_MAX_SENTENCE = 1_000


def sentences(report: str) -> list[str]:
    """The sentences of its prose: no fenced code, no overlong words."""
    prose = re.sub(r"```.*?(?:```|\Z)", "", report[:_MAX_CHARACTERS], flags=re.DOTALL)
    return [each[:_MAX_SENTENCE] for each in _SENTENCE.split(re.sub(r"\S{300,}", " ", prose))]


def find_doubt(sentence: str) -> int:
    """Where the sentence turns into a wish, a question or a negation; its end if it doesn't."""
    if "?" in sentence:
        return 0
    # Words in paths don't count.
    match = _DOUBT.search(re.sub(PATH, lambda path: " " * len(path[0]), sentence))
    return match.start() if match else len(sentence)
